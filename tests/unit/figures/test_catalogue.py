"""Figures by name: the commands that write them, and what each needs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from automata.analysis.study import Study
from automata.cli import main
from automata.errors import UserError
from automata.figures.catalogue import (
    OF_DATASET,
    PAPER,
    STUDIES,
    draw,
    draw_dataset,
    shows,
)
from automata.names import CONTROLS
from automata.runs import Place

FIGURES = {*PAPER, *STUDIES, *OF_DATASET}
ALWAYS = {"framework"}
ANY_STUDY = {"pareto", "rank-agreement", "ceiling", *OF_DATASET}


def runs(
    selectors: tuple[str, ...],
    datasets: tuple[str, ...] = ("dna",),
    schedulers: tuple[str, ...] = ("asha",),
) -> list[Place]:
    """Return the runs of a grid with one search, subset size and seed."""
    return [
        Place(dataset, "tpe", scheduler, "0", selector, f"{CONTROLS.get(selector, 0.1):g}", "", "0")
        for dataset, scheduler, selector in product(datasets, schedulers, selectors)
    ]


@pytest.mark.parametrize(
    ("grid", "shown"),
    [
        ([], set()),
        (runs(("untuned",)), {"time-split"}),
        (runs(("full",)), {"anytime", "time-split"}),
        (runs(("gradmatch", "random")), {"anytime"}),  # nothing to compare with
        (runs(("full", "gradmatch")), {*ANY_STUDY, "tabular"}),
        (
            runs(("full", "gradmatch", "random")),
            {*ANY_STUDY, "tabular", "selector-comparison"},
        ),
        (runs(("full", "craig", "random")), {*ANY_STUDY, "tabular"}),  # no pair of interest
        (runs(("full", "gradmatch"), ("mine",)), ANY_STUDY),
        (runs(("full", "gradmatch"), schedulers=("none",)), ANY_STUDY),
        (
            runs(("full", "gradmatch"), ("connect4",)),
            {*ANY_STUDY, "tabular", "main", "performance-summary"},
        ),
        (runs(("full", "random"), ("connect4",)), {*ANY_STUDY, "tabular", "main"}),
        (runs(("full", "random"), ("svhn",)), {*ANY_STUDY, "image", "energy-co2"}),
        (
            [*runs(("full",), ("dna",)), *runs(("gradmatch",), ("letter",))],
            {"anytime", "time-split"},  # FULL is of another data set
        ),
    ],
)
def test_a_grid_tells_which_figures_show_something(grid: list[Place], shown: set[str]) -> None:
    assert {name for name in FIGURES if shows(name, grid)} == shown | ALWAYS


def test_sizes_must_agree_for_a_comparison_of_selectors() -> None:
    full, one, other = runs(("full", "gradmatch", "random"))

    assert not shows("selector-comparison", [full, one, other._replace(fraction="0.3")])


@pytest.mark.parametrize("selectors", [("gradmatch", "random"), ("full", "gradmatch")])
def test_what_shows_nothing_is_drawn_empty_and_the_other_way_round(
    make_study: Callable[..., Study],
    small_runs: pd.DataFrame,
    drawn: Callable[[str, Study], Figure],
    selectors: tuple[str, ...],
) -> None:
    table = small_runs[small_runs["selector"].isin(selectors)]
    study = make_study(table, trials=True)
    grid = runs(selectors, ("sst5",), ("hyperband",))

    for name in FIGURES - ALWAYS:
        figure = drawn(f"{name}/sst5" if name in OF_DATASET else name, study)
        artists = [one for axes in figure.axes for one in (*axes.lines, *axes.collections)]
        data = any(one.get_gid() for one in artists) or any(axes.patches for axes in figure.axes)
        assert shows(name, grid) == data, name


def test_other_figure_is_one_line_that_names_those_there_are(small: Study) -> None:
    with pytest.raises(UserError, match=r"^figure 'mian' is not one of performance-summary, fra"):
        draw("mian", small)
    with pytest.raises(UserError, match=r"^figure 'main' is not one of tradeoff, energy, anytime"):
        draw_dataset("main", small, "sst5")


def test_names_of_figures_are_known_without_drawing_anything() -> None:
    code = (
        "import sys, automata.figures.catalogue;"
        "print({'matplotlib', 'pandas', 'seaborn'} & set(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert shown.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("command", "written"),
    [
        (["plot", "--figures", "image", "ceiling"], ["image", "ceiling"]),
        (
            ["plot-datasets", "--figures", "tradeoff", "energy", "--datasets", "sst5"],
            ["tradeoff/sst5", "energy/sst5"],
        ),
    ],
)
def test_command_writes_each_figure_in_both_formats(
    small: Study, tmp_path: Path, command: list[str], written: list[str]
) -> None:
    name, *options = command
    main([name, str(small.folder), *options, "--output", str(tmp_path)])

    files = {p.relative_to(tmp_path).as_posix(): p for p in tmp_path.rglob("*.*")}
    assert set(files) == {f"{name}.{form}" for name in written for form in ("pdf", "png")}
    assert {p.read_bytes()[:4] for p in files.values()} == {b"%PDF", b"\x89PNG"}


def test_command_with_another_name_ends_in_one_line(small: Study, tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as end:
        main(["plot", str(small.folder), "--figures", "x", "--output", str(tmp_path)])

    assert str(end.value.code).startswith("automata plot: error: figure 'x' is not one of ")
    assert list(tmp_path.iterdir()) == []
