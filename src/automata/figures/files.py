"""Figures as files, several per process: imports take longer than drawing a figure."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path

from matplotlib.figure import Figure

from automata.analysis.study import Study
from automata.analysis.views import view_of
from automata.errors import UserError
from automata.figures.style import save, style
from automata.loading import imported


def draw(name: str, study: Study) -> Figure:
    """Return the figure `NAME` or `NAME/DATASET`; raises UserError for another name or data set."""
    view, dataset = view_of(name), name.partition("/")[2]
    if dataset and dataset not in (known := sorted(set(study.runs["dataset"]))):
        raise UserError(f"dataset '{dataset}' is not one of {', '.join(known)}")
    shown = [dataset] if dataset else view.datasets
    ratio = [view.ratio] if view.ratio else []
    with style():
        figure: Figure = imported(f"automata.figures.{view.make}")(study, *shown, *ratio)
    return figure


def write_figures(tables: Path, names: Sequence[str], folder: Path, processes: int = 1) -> None:
    """Write figures of the study in `tables` to `folder`, as {name}.pdf and {name}.png."""
    write = partial(_write, tables, folder)
    if processes == 1 or len(names) == 1:
        for name in names:
            write(name)
    else:
        # Python's garbage collector would take a fifth of the time.
        with ProcessPoolExecutor(processes, initializer=gc.disable) as pool:
            list(pool.map(write, names))


_study = cache(Study)
"""One study for all figures of a process, so that it reads tables once."""


def _write(tables: Path, folder: Path, name: str) -> None:
    save(draw(name, _study(tables)), folder / f"{name}.pdf", folder / f"{name}.png")
