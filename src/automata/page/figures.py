"""Figures inside the page: PNG files as text, no larger than a screen can show."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from automata.figures.catalogue import DATASETS
from automata.page.grid import dataset

TITLES = {
    "framework": "How AUTOMATA works",
    "performance-summary": "Performance summary",
    "main": "Trade-offs: the paper's main figure",
    "text": "Trade-offs: text",
    "image": "Trade-offs: images",
    "tabular": "Trade-offs: tables",
    "energy-co2": "Energy and CO2",
    "pareto": "Pareto fronts",
    "anytime": "Best configuration found over time",
    "time-split": "Where the time goes",
    "rank-agreement": "Agreement of ranks with FULL",
    "resampling": "Gradients or re-sampling",
    "ceiling": "Speedup and its ceiling",
}
"""In the order in which they are shown; others follow, by name."""

PER_DATASET = ("anytime", "time-split")
"""Folders with a figure per data set; what tradeoff/ and energy/ show, the panels show."""

WIDEST = 1600
"""Pixels: more than the page is wide."""

INCH = 120
"""Of a figure in print, in pixels of the page: small print gets readable."""

DPI = 200.0
"""Of a file that does not say."""

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
    empty: bool
    """Whether none of its panels was run."""


@dataclass(frozen=True)
class Album:
    """The figures of a folder: one per data set, under one caption."""

    name: str
    title: str
    caption: str
    figures: list[Figure]


def figures(folder: Path, captions: Path, datasets: set[str]) -> list[Figure]:
    """Return the figures right in `folder`, none where it is missing; `datasets` have runs."""
    return [
        _figure(
            path,
            path.stem,
            title(path.stem),
            caption(captions, path.stem),
            datasets.isdisjoint(DATASETS.get(path.stem, datasets)),
        )
        for path in _png(folder)
    ]


def albums(folder: Path, captions: Path) -> list[Album]:
    """Return the figures per data set, folder by folder, those that exist."""
    return [
        Album(
            name,
            title(name),
            caption(captions, name),
            [_figure(path, path.stem, dataset(path.stem), "") for path in _png(folder / name)],
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
    """Return what a figure is called; one that is not known by its name, e.g. My figure."""
    words = name.replace("-", " ").replace("_", " ")
    return TITLES.get(name, words[:1].upper() + words[1:])


def embedded(path: Path) -> tuple[str, int, int]:
    """Return the image at `path` as a data URI, and its width and height on the page."""
    with Image.open(path) as image:
        scale = INCH / float(image.info.get("dpi", (DPI,))[0])
        width, height = round(image.width * scale), round(image.height * scale)
        shown = image.convert("RGB")
    if shown.width > WIDEST:
        rows = round(shown.height * WIDEST / shown.width)
        shown = shown.resize((WIDEST, rows), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    shown.quantize(COLOURS, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
    text = base64.b64encode(buffer.getvalue()).decode("ascii")
    return f"data:image/png;base64,{text}", width, height


def _figure(path: Path, name: str, heading: str, text: str, empty: bool = False) -> Figure:
    return Figure(name, heading, text, *embedded(path), empty)


def _png(folder: Path) -> list[Path]:
    def place(path: Path) -> tuple[int, str]:
        order = list(TITLES)
        return (order.index(path.stem) if path.stem in order else len(order), path.stem)

    return sorted(folder.glob("*.png"), key=place)
