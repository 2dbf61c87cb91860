"""Every figure, in the largest grids: what can be read, what is written."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from automata.analysis.study import Study
from automata.figures.files import draw
from automata.figures.style import COLOURS, PAGE_INCHES, save, style
from automata.views import BEYOND, DATASETS, PAPER, named
from drawn import boxes, outside, overlaps

Draw = Callable[[str, Study], Figure]
Largest = Callable[[str], Figure]

OF_WHOLE = [*named(PAPER), "tradeoff/glue-sst2"]
OF_SOME = [*named(BEYOND), *(f"{name}/dna" for name in named(DATASETS))]
LIKE_MAIN = ("image", "tabular", "text")
"""Grids of the same panels, with fewer rows."""
EVERY = [
    pytest.param(name, marks=pytest.mark.slow if name in LIKE_MAIN else ())
    for name in sorted({*OF_WHOLE, *OF_SOME})
]
SMALLEST = 5.0
"""Points."""


@pytest.fixture(scope="session")
def largest(whole: Study, some: Study, drawn: Draw) -> Largest:
    """Give a figure of all selectors, or of all that there are trials of."""
    return lambda name: drawn(name, whole if name in OF_WHOLE else some)


@pytest.mark.parametrize("name", EVERY)
def test_nothing_overlaps_or_is_cut_or_too_small(largest: Largest, name: str) -> None:
    figure = largest(name)
    extents = boxes(figure)
    words = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]

    assert overlaps(extents) == []
    assert outside(figure, extents) == []
    assert min(text.get_fontsize() for text in words) >= SMALLEST
    assert figure.get_figwidth() <= PAGE_INCHES


def test_readability_is_judged_by_what_is_drawn(small: Study) -> None:
    """The judges themselves: a text over the axes overlaps, one at the edge leaves the page."""
    figure = draw("main", small)
    figure.text(0.5, 0.5, "over the panels")
    figure.text(0.99, 0.5, "beyond the edge")
    extents = boxes(figure)

    assert {other for one, other in overlaps(extents)} >= {"text over the panels"}
    assert outside(figure, extents) == ["text beyond the edge"]


@pytest.mark.parametrize("name", [it for it in named(PAPER, BEYOND) if it not in LIKE_MAIN])
def test_figure_without_anything_to_show_says_so(empty: Study, drawn: Draw, name: str) -> None:
    figure = drawn(name, empty)
    words = " ".join(text.get_text() for text in figure.findobj(Text))

    assert overlaps(boxes(figure)) == []
    assert re.search("not run|no comparable run|no two selectors", words)


@pytest.fixture(scope="session")
def empty(make_study: Callable[..., Study], small_runs: pd.DataFrame) -> Study:
    """AUTOMATA alone, without FULL, of a data set that the paper does not have."""
    runs = small_runs[small_runs["selector"] == "gradmatch"].assign(dataset="mine")
    return make_study(runs, trials=True)


def test_the_main_figure_fits_on_a_page_of_the_paper(largest: Largest) -> None:
    assert largest("main").get_figheight() < 9


# --- files ------------------------------------------------------------------------------------


def test_figures_are_written_the_same_twice_and_nothing_else(small: Study, tmp_path: Path) -> None:
    for copy in "ab":
        folder = tmp_path / copy
        save(draw("pareto", small), folder / "figure.pdf", folder / "figure.png")

    written = {path.relative_to(tmp_path / "a") for path in (tmp_path / "a").iterdir()}
    assert written == {Path("figure.pdf"), Path("figure.png")}
    for path in written:
        assert (tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes()


@pytest.fixture(scope="module")
def written(largest: Largest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("figures")
    for name in ("main", "selector-comparison", "pareto"):
        save(largest(name), folder / f"{name}.png", folder / f"{name}.pdf")
    return folder


@pytest.mark.parametrize("name", ["main", "selector-comparison", "pareto"])
def test_nothing_is_cut_off_where_it_is_written(written: Path, name: str) -> None:
    with Image.open(written / f"{name}.png") as image:
        pixels = image.convert("L")
    edges = [(0, 0, pixels.width, 1), (0, pixels.height - 1, pixels.width, pixels.height)]
    edges += [(0, 0, 1, pixels.height), (pixels.width - 1, 0, pixels.width, pixels.height)]

    assert [pixels.crop(edge).getextrema() for edge in edges] == [(255, 255)] * 4


def test_what_fills_areas_keeps_its_colour_in_few_colours(
    written: Path, largest: Largest, tmp_path: Path
) -> None:
    with style():
        largest("pareto").savefig(tmp_path / "all.png")

    with Image.open(written / "pareto.png") as few, Image.open(tmp_path / "all.png") as every:
        assert few.info["dpi"] == every.info["dpi"]
        shown = few.convert("RGB").getcolors(2**24)
        drawn = every.convert("RGB").getcolors(2**24)
    areas = {colour for count, colour in drawn if count > 0.002 * sum(n for n, _ in drawn)}
    assert len(shown) <= COLOURS
    assert len(areas) > 2
    assert {colour for _, colour in shown} >= areas


def test_pdf_has_its_fonts_in_it_as_true_type(written: Path) -> None:
    content = (written / "selector-comparison.pdf").read_bytes()

    assert b"/FontFile2" in content
    assert fonts(content) <= {b"Type0", b"TrueType", b"CIDFontType2"}


def fonts(content: bytes) -> set[bytes]:
    """Return the subtypes of all fonts of a PDF, those in compressed objects too."""
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL)
    parts = [content]
    for stream in streams:
        try:
            parts.append(zlib.decompress(stream))
        except zlib.error:
            continue
    return set(
        re.findall(rb"/Subtype\s*/(Type0|Type1|Type3|TrueType|CIDFontType2)", b"".join(parts))
    )


def test_words_in_a_pdf_are_letters_of_one_font(tmp_path: Path) -> None:
    figure = Figure()
    figure.text(0.5, 0.5, "final office affluent fifth")  # fi, ffi, ffl: ligatures of the font
    save(figure, tmp_path / "figure.pdf")

    content = (tmp_path / "figure.pdf").read_bytes()
    assert len(set(re.findall(rb"/BaseFont\s*/[^\s/]+", content))) == 1
