"""The diagram of the framework: every component is there, and no text leaves its box."""

from __future__ import annotations

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from matplotlib.transforms import Bbox

from automata.analysis.study import Study
from automata.figures.framework import framework
from automata.figures.style import style
from drawn import overlaps


@pytest.fixture(scope="module")
def figure(small: Study) -> Figure:
    drawn = framework(small)
    with style():
        drawn.draw(FigureCanvasAgg(drawn).get_renderer())
    return drawn


def text_boxes(figure: Figure) -> dict[str, Bbox]:
    return {
        text.get_text(): text.get_window_extent()
        for text in figure.axes[0].texts
        if text.get_text()
    }


def within(inner: Bbox, outer: Bbox) -> bool:
    inside_x = outer.x0 < inner.x0 and inner.x1 < outer.x1
    return inside_x and outer.y0 < inner.y0 and inner.y1 < outer.y1


def test_all_components_and_what_passes_between_them_are_named(figure: Figure) -> None:
    words = " ".join(text_boxes(figure)).replace("\n", " ")

    for part in (
        "Hyper-parameter search",
        "Subset-based configuration evaluation",
        "Gradient-based subset selection",
        "every R epochs, by OMP",
        "Hyper-parameter scheduler",
        "Final training",
        "configurations",
        "scores",
        "best configuration",
    ):
        assert part in words


def test_no_text_overlaps_another(figure: Figure) -> None:
    assert overlaps(text_boxes(figure)) == []


def test_every_text_lies_within_a_box_or_outside_of_all(figure: Figure) -> None:
    patches = [patch for patch in figure.axes[0].patches if patch.get_gid() == "box"]
    drawn = [patch.get_window_extent() for patch in patches]
    crossing = [
        name
        for name, text in text_boxes(figure).items()
        for box in drawn
        if overlaps({"text": text, "box": box}) and not within(text, box)
    ]

    assert len(drawn) == 6
    assert crossing == []


def test_no_arrow_runs_through_a_text(figure: Figure) -> None:
    arrows = {
        f"arrow {i}": patch.get_window_extent()
        for i, patch in enumerate(figure.axes[0].patches)
        if isinstance(patch, FancyArrowPatch)
    }

    assert len(arrows) == 7
    for name, text in text_boxes(figure).items():
        assert [pair for pair in overlaps({**arrows, name: text}) if name in pair] == []


def test_everything_lies_on_the_page(figure: Figure) -> None:
    page = figure.bbox.expanded(1.001, 1.001)
    boxes = [patch.get_window_extent() for patch in figure.axes[0].patches]

    assert all(within(box, page) for box in [*boxes, *text_boxes(figure).values()])
