"""Figures by name, and the commands that write them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from automata.analysis.study import Study
from automata.cli import main
from automata.errors import UserError
from automata.views import OF_DATASET, PAPER, draw, draw_dataset
from drawn import legend_of

DrawOnce = Callable[[str, Study], Figure]


@pytest.mark.parametrize("name", PAPER)
def test_every_figure_of_an_experiment_can_be_drawn(
    some: Study, draw_once: DrawOnce, name: str
) -> None:
    assert draw_once(name, some).axes


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("tradeoff", "Speedup over FULL"),
        ("energy", "Energy ratio"),
        ("co2-measured", "CO2 ratio from energy"),
        ("co2-time", "CO2 ratio from time"),
    ],
)
def test_every_figure_of_a_data_set_has_its_ratio(some: Study, name: str, label: str) -> None:
    figure = draw_dataset(name, some, "sst5")

    assert any(text.get_text().startswith(label) for text in figure.texts)
    assert "AUTOMATA" in legend_of(figure)
    assert name in OF_DATASET


def test_other_figure_is_one_line_that_names_those_there_are(some: Study) -> None:
    with pytest.raises(UserError, match=r"^figure 'mian' is not one of performance-summary, fra"):
        draw("mian", some)


def test_other_figure_of_a_data_set_is_one_line(some: Study) -> None:
    with pytest.raises(UserError, match=r"^figure 'main' is not one of tradeoff, energy, co2-"):
        draw_dataset("main", some, "sst5")


def test_names_of_figures_are_known_without_drawing_anything() -> None:
    code = (
        "import sys, automata.views;print({'matplotlib', 'pandas', 'seaborn'} & set(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert shown.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("command", "written"),
    [
        (["plot", "--figures", "image", "ceiling"], ["image", "ceiling"]),
        (
            ["plot-datasets", "--figures", "tradeoff", "energy", "--datasets", "sst5", "cifar100"],
            ["tradeoff/sst5", "energy/sst5", "tradeoff/cifar100", "energy/cifar100"],
        ),
    ],
)
def test_command_writes_each_figure_in_both_formats(
    some: Study, tmp_path: Path, command: list[str], written: list[str]
) -> None:
    name, *options = command
    main([name, str(some.folder), *options, "--output", str(tmp_path)])

    files = {p.relative_to(tmp_path).as_posix(): p for p in tmp_path.rglob("*.*")}
    assert set(files) == {f"{name}.{form}" for name in written for form in ("pdf", "png")}
    assert {p.read_bytes()[:4] for p in files.values()} == {b"%PDF", b"\x89PNG"}


def test_command_with_another_name_ends_in_one_line(some: Study, tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as end:
        main(["plot", str(some.folder), "--figures", "x", "--output", str(tmp_path)])

    assert str(end.value.code).startswith("automata plot: error: figure 'x' is not one of ")
    assert list(tmp_path.iterdir()) == []
