"""Figures inside the page: images as text."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from PIL import Image

from automata.names import dataset
from automata.views import OF_DATASET, PAPER, STUDIES

PER_DATASET = ("anytime", "time-split")
"""Folders with a figure per data set; what tradeoff/ and energy/ show, the panels show."""

INCH = 120
"""Of a figure in print, in pixels of the page: small print gets readable."""

DPI = 200.0
"""Of a file that does not say."""


@dataclass(frozen=True)
class Figure:
    """An image, with the text that stands for it where it cannot be seen."""

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


def figures(folder: Path, datasets: list[str]) -> list[Figure]:
    """Return the figures of an experiment that are in `folder`; `datasets` have runs."""
    found = [(view, folder / f"{view.name}.png") for view in (PAPER | STUDIES).values()]
    return _figures(
        (
            path,
            view.name,
            view.title,
            view.caption,
            set(datasets).isdisjoint(view.datasets or datasets),
        )
        for view, path in found
        if path.is_file()
    )


def albums(folder: Path, datasets: list[str]) -> list[Album]:
    """Return the figures of each of `datasets`, folder by folder, those that exist.

    What else is in the folder is of another time.
    """
    found = {
        name: [path for one in datasets if (path := folder / name / f"{one}.png").is_file()]
        for name in PER_DATASET
    }
    return [
        Album(
            name,
            OF_DATASET[name].title,
            OF_DATASET[name].caption,
            _figures((path, path.stem, dataset(path.stem), "", False) for path in paths),
        )
        for name, paths in found.items()
        if paths
    ]


def embedded(path: Path) -> tuple[str, int, int]:
    """Return the image at `path` as a data URI, and its width and height on the page.

    It is WebP without loss: three quarters of a PNG.
    """
    with Image.open(path) as image:
        scale = INCH / float(image.info.get("dpi", (DPI,))[0])
        width, height = round(image.width * scale), round(image.height * scale)
        file = BytesIO()
        image.convert("RGB").save(file, "WEBP", lossless=True)
    text = base64.b64encode(file.getvalue()).decode("ascii")
    return f"data:image/webp;base64,{text}", width, height


def _figures(of: Iterable[tuple[Path, str, str, str, bool]]) -> list[Figure]:
    """Return a figure of each path, name, title, caption and whether it is empty."""
    return [
        Figure(name, heading, text, *embedded(path), empty)
        for path, name, heading, text, empty in of
    ]
