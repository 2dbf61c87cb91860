"""Figures by name: which an experiment has, and the commands that write them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from automata.analysis.study import Study
from automata.cli import main
from automata.errors import UserError
from automata.figures.files import draw
from automata.views import BEYOND, PAPER, figures, named
from support.synthetic import synthetic_runs

MakeStudy = Callable[..., Study]


@pytest.mark.parametrize(
    "selectors",
    [("gradmatch", "random"), ("full", "gradmatch"), ("full", "random"), ("full", "craig", "rs2")],
)
def test_figures_of_a_plan_are_those_that_show_some_of_its_runs(
    make_study: MakeStudy, selectors: tuple[str, ...]
) -> None:
    runs = synthetic_runs(
        datasets=("connect4",), selectors=selectors, searches=("tpe",), fractions=(0.1,), repeats=1
    )
    study = make_study(runs, trials=True)
    planned = figures({("connect4", "tpe", "hyperband"): selectors})

    for name in named(PAPER, BEYOND):
        figure = draw(name, study)
        artists = [one for axes in figure.axes for one in (*axes.lines, *axes.collections)]
        own = {one.get_gid() for one in artists} - {None}
        own -= {"mean full", "bars"} if name == "performance-summary" else set()
        assert (name in planned) == bool(own), name


def test_other_figure_is_one_line_that_names_those_there_are(small: Study) -> None:
    with pytest.raises(UserError, match=r"^figure 'mian' is not one of performance-summary, main"):
        draw("mian", small)
    with pytest.raises(UserError, match=r"^figure 'main/sst5' is not one of tradeoff, energy"):
        draw("main/sst5", small)


@pytest.mark.parametrize("processes", ["1", "2"])
def test_command_writes_each_figure_in_both_formats(
    small: Study, tmp_path: Path, processes: str
) -> None:
    names = ["image", "ceiling", "tradeoff/sst5", "energy/sst5"]
    options = ["--processes", processes, "--output", str(tmp_path)]
    main(["plot", str(small.folder), *names, *options])

    files = {p.relative_to(tmp_path).as_posix(): p for p in tmp_path.rglob("*.*")}
    assert set(files) == {f"{name}.{form}" for name in names for form in ("pdf", "png")}
    assert {p.read_bytes()[:4] for p in files.values()} == {b"%PDF", b"\x89PNG"}


def test_command_with_another_name_ends_in_one_line(small: Study, tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as end:
        main(["plot", str(small.folder), "x", "--output", str(tmp_path)])

    assert str(end.value.code).startswith("automata plot: error: figure 'x' is not one of ")
    assert list(tmp_path.iterdir()) == []
