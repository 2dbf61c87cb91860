"""Colours, markers and files."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from PIL import Image

from automata.analysis.study import Study
from automata.figures.style import PALETTE, save, style
from automata.views import PAPER, draw

DrawOnce = Callable[[str, Study], Figure]

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module", params=[name for name in PAPER if name != "main"])
def figure(request: pytest.FixtureRequest, some: Study, draw_once: DrawOnce) -> Figure:
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


def test_pdf_of_the_same_tables_has_the_same_bytes(some: Study, tmp_path: Path) -> None:
    for name in ("one", "two"):
        save(draw("energy-co2", some), tmp_path / f"{name}.pdf")

    assert (tmp_path / "one.pdf").read_bytes() == (tmp_path / "two.pdf").read_bytes()


def test_both_formats_are_written_and_nothing_else(some: Study, tmp_path: Path) -> None:
    save(draw("image", some), tmp_path / "figures" / "a.pdf", tmp_path / "figures" / "a.png")

    assert (tmp_path / "figures" / "a.png").read_bytes().startswith(PNG_SIGNATURE)
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == ["a.pdf", "a.png"]


@pytest.mark.parametrize("name", ["framework", "tabular", "energy-co2"])
def test_what_fills_areas_keeps_its_colour_in_few_colours(
    name: str, some: Study, tmp_path: Path
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
