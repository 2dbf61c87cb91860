"""Colours, markers and files."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

from automata.analysis.experiment import Tables
from automata.figures import names
from automata.figures.catalogue import PAPER, draw
from automata.figures.looks import COLOURS, MARKERS, SCHEDULER_COLOURS, SCHEDULER_MARKERS
from automata.figures.style import PALETTE, ink_on, save, style
from automata.selection import SELECTORS
from automata.tuning import SCHEDULERS, SEARCHES

DrawOnce = Callable[[str, Tables], Figure]

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize(
    ("table", "registry"),
    [
        (COLOURS, SELECTORS),
        (MARKERS, SELECTORS),
        (names.SELECTORS, SELECTORS),
        (names.SEARCHES, SEARCHES),
        (names.SCHEDULERS, SCHEDULERS),
        (SCHEDULER_COLOURS, SCHEDULERS),
        (SCHEDULER_MARKERS, SCHEDULERS),
    ],
)
def test_everything_that_can_be_run_can_be_drawn(
    table: dict[str, Any], registry: dict[str, str]
) -> None:
    assert set(table) == set(registry)


@pytest.mark.parametrize("table", [MARKERS, names.SELECTORS], ids=["markers", "names"])
def test_no_two_selectors_look_alike_in_grey(table: dict[str, Any]) -> None:
    assert len(set(table.values())) == len(SELECTORS)


def test_no_two_subset_selectors_share_a_colour() -> None:
    subsets = [name for name in SELECTORS if COLOURS[name] != "#000000"]

    assert len({COLOURS[name] for name in subsets}) == len(subsets) == len(SELECTORS) - 3


@pytest.mark.parametrize("colour", [*COLOURS.values(), *SCHEDULER_COLOURS.values()])
def test_marker_is_seen_on_white_and_its_number_on_it(colour: str) -> None:
    on_white = 1.05 / (luminance(colour) + 0.05)
    dark, light = sorted((luminance(colour), luminance(ink_on(colour))))

    assert on_white > 2
    assert (light + 0.05) / (dark + 0.05) > 4.5  # WCAG's AA for text


def test_schedulers_differ_in_grey_too() -> None:
    for one, other in combinations(SCHEDULER_COLOURS, 2):
        assert SCHEDULER_MARKERS[one] != SCHEDULER_MARKERS[other]


@pytest.fixture(scope="module", params=[name for name in PAPER if name != "main"])
def figure(request: pytest.FixtureRequest, some: Tables, draw_once: DrawOnce) -> Figure:
    return draw_once(request.param, some)


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


def test_pdf_has_its_fonts_in_it_as_true_type(figure: Figure, tmp_path: Path) -> None:
    save(figure, tmp_path / "figure.pdf")

    content = (tmp_path / "figure.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    assert b"/FontFile2" in content
    assert b"DejaVuSans" in content
    assert fonts(content) <= {b"Type0", b"TrueType", b"CIDFontType2"}
    assert b"/Type3" not in content


def test_words_in_a_pdf_are_letters_of_one_font(tmp_path: Path) -> None:
    figure = Figure()
    figure.text(0.5, 0.5, "final office affluent fifth")  # fi, ffi, ffl: ligatures of the font
    save(figure, tmp_path / "figure.pdf")

    content = (tmp_path / "figure.pdf").read_bytes()
    assert len(set(re.findall(rb"/BaseFont\s*/[^\s/]+", content))) == 1


def test_pdf_of_the_same_tables_has_the_same_bytes(some: Tables, tmp_path: Path) -> None:
    for name in ("one", "two"):
        save(draw("energy-co2", some), tmp_path / f"{name}.pdf")

    assert (tmp_path / "one.pdf").read_bytes() == (tmp_path / "two.pdf").read_bytes()


def test_both_formats_are_written_and_nothing_else(some: Tables, tmp_path: Path) -> None:
    save(draw("image", some), tmp_path / "figures" / "a.pdf", tmp_path / "figures" / "a.png")

    assert (tmp_path / "figures" / "a.png").read_bytes().startswith(PNG_SIGNATURE)
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == ["a.pdf", "a.png"]


@pytest.mark.parametrize("name", ["framework", "tabular", "energy-co2"])
def test_what_fills_areas_keeps_its_colour_in_few_colours(
    name: str, some: Tables, tmp_path: Path
) -> None:
    figure = draw(name, some)
    save(figure, tmp_path / "few.png")  # which makes the layout, and takes the engine away
    with style():
        figure.savefig(tmp_path / "all.png")

    with Image.open(tmp_path / "few.png") as few, Image.open(tmp_path / "all.png") as every:
        assert few.info["dpi"] == every.info["dpi"]
        shown = few.convert("RGB").getcolors(2**24)
        drawn = every.convert("RGB").getcolors(2**24)
    assert len(shown) <= PALETTE
    assert max(shown)[1] == (255, 255, 255)
    areas = [colour for count, colour in drawn if count > 0.002 * sum(n for n, _ in drawn)]
    assert len(areas) > 2
    assert {colour for _, colour in shown} >= set(areas)
