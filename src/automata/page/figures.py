"""Figures inside the page: PNG files as text, no larger than a screen can show."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

ORDER = [
    "framework",
    "performance-summary",
    "main",
    "text",
    "image",
    "tabular",
    "energy-co2",
    "pareto",
    "anytime",
    "time-split",
    "rank-agreement",
    "resampling",
    "ceiling",
]
"""As the paper tells it; others follow by name."""

PER_DATASET = ("anytime", "time-split")
"""Folders with a figure per data set; what tradeoff/ and energy/ show, the panels show."""

WIDEST = 1400
"""Pixels: twice the width of a figure on the page."""

COLOURS = 128
"""Of a figure's palette: charts have few, and the page must stay small."""


@dataclass(frozen=True)
class Figure:
    """A PNG, with the text that stands for it where it cannot be seen."""

    name: str
    title: str
    caption: str
    """Empty where there is none."""
    uri: str
    width: int
    height: int


@dataclass(frozen=True)
class Album:
    """The figures of a folder: one per data set, under one caption."""

    name: str
    title: str
    caption: str
    figures: list[Figure]


def figures(folder: Path, captions: Path) -> list[Figure]:
    """Return the figures right in `folder`; none where it is missing."""
    return [_figure(path, path.stem, caption(captions, path.stem)) for path in _png(folder)]


def albums(folder: Path, captions: Path) -> list[Album]:
    """Return the figures per data set, folder by folder, those that exist."""
    return [
        Album(
            name,
            title(name),
            caption(captions, name),
            [_figure(path, f"{name}/{path.stem}", "") for path in _png(folder / name)],
        )
        for name in PER_DATASET
        if _png(folder / name)
    ]


def caption(folder: Path, name: str) -> str:
    """Return the caption of a figure as one paragraph; empty where there is none.

    Captions with fields that only the workflow's report can fill count as none.
    """
    path = folder / f"{name}.rst"
    text = " ".join(path.read_text(encoding="utf-8").split()) if path.is_file() else ""
    return "" if "{{" in text or "{%" in text else text


def title(name: str) -> str:
    """Return what a figure is called: energy-co2 is Energy co2."""
    words = name.split("/")[-1].replace("-", " ").replace("_", " ")
    return (words[:1].upper() + words[1:]).replace("co2", "CO2")


def embedded(path: Path) -> tuple[str, int, int]:
    """Return the image at `path` as a data URI, its width and its height, scaled to WIDEST."""
    with Image.open(path) as image:
        shown = image.convert("RGB")
    if shown.width > WIDEST:
        height = round(shown.height * WIDEST / shown.width)
        shown = shown.resize((WIDEST, height), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    shown.quantize(COLOURS, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
    text = base64.b64encode(buffer.getvalue()).decode("ascii")
    return f"data:image/png;base64,{text}", shown.width, shown.height


def _figure(path: Path, name: str, text: str) -> Figure:
    return Figure(name, title(name), text, *embedded(path))


def _png(folder: Path) -> list[Path]:
    def place(path: Path) -> tuple[int, str]:
        known = path.stem in ORDER
        return (ORDER.index(path.stem) if known else len(ORDER), path.stem)

    return sorted(folder.glob("*.png"), key=place)
