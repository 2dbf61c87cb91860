"""Figures as files, several by one process: what each would import costs more than to draw it."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from matplotlib.figure import Figure

from automata.analysis.study import Study
from automata.figures.style import save
from automata.views import draw, draw_dataset


def write_figures(study: Study, names: Iterable[str], folder: Path) -> None:
    """Write figures of an experiment to `folder`, as {name}.pdf and {name}.png."""
    _write((draw(name, study), folder / name) for name in names)


def write_dataset_figures(
    study: Study, datasets: Iterable[str], names: Sequence[str], folder: Path
) -> None:
    """Write figures of each data set to `folder`, as {name}/{dataset}.pdf and .png."""
    for dataset in datasets:
        _write((draw_dataset(name, study, dataset), folder / name / dataset) for name in names)


def _write(figures: Iterable[tuple[Figure, Path]]) -> None:
    """Write each figure to its path, which has no suffix yet."""
    with _garbage_kept():
        for figure, path in figures:
            save(figure, path.with_name(f"{path.name}.pdf"), path.with_name(f"{path.name}.png"))


@contextmanager
def _garbage_kept() -> Iterator[None]:
    """Keep Python's garbage collector out of the body.

    It would pass over all modules and all of a figure again and again while one is drawn: a fifth
    of the time. The few figures of a job fit into memory.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
