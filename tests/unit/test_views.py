"""The catalogue: what is drawn of which experiment, and that every view can be made."""

from __future__ import annotations

import subprocess
import sys

import pytest

from automata.names import CONTROLS, DATASETS
from automata.registry import imported
from automata.views import OF_DATASET, PAPER, STUDIES, figures

EVERY = PAPER | STUDIES | OF_DATASET


def plan(datasets, selectors, scheduler="hyperband"):
    return {(dataset, "tpe", scheduler): selectors for dataset in datasets}


@pytest.mark.parametrize("view", EVERY.values(), ids=list(EVERY))
def test_every_view_has_a_function_and_words_of_its_own(view):
    assert callable(imported(view.make))
    assert len(view.caption.split()) > 10
    assert [other.name for other in EVERY.values() if other.caption == view.caption] == [view.name]


@pytest.mark.parametrize("view", PAPER.values(), ids=list(PAPER))
def test_figures_of_the_paper_are_of_its_data_sets(view):
    assert set(view.datasets) <= set(DATASETS)


@pytest.mark.parametrize(
    ("datasets", "selectors", "drawn"),
    [
        # One of each paper's figure's data sets is enough.
        (["dna"], ["full", "random", "gradmatch"], ["tabular", *STUDIES]),
        (["svhn"], ["full", "rs2", "random"], ["image", "energy-co2", *STUDIES]),
        (["cifar10"], ["full", "gradmatch"], ["performance-summary", "main", "image", "ceiling"]),
        # A user's own data set is in no figure of the paper.
        (["mine"], ["full", "gradmatch"], ["pareto", "rank-agreement", "ceiling"]),
        (["mine"], ["full", "rs2", "random"], ["selector-comparison", "pareto"]),
        # Nothing compares without FULL, and FULL alone compares with nothing.
        (["dna"], ["gradmatch", "random"], []),
        (["dna"], ["full"], []),
        (["dna"], ["untuned"], []),
        (["dna"], ["full", "full-again", "untuned"], []),
    ],
)
def test_figure_is_drawn_where_the_grid_has_what_it_shows(datasets, selectors, drawn):
    found = figures(plan(datasets, selectors))

    assert set(drawn) <= set(found)
    if "full" not in selectors or set(selectors) <= set(CONTROLS):
        assert set(found) == set(drawn)


@pytest.mark.parametrize("name", ["main", "text", "image", "energy-co2", "performance-summary"])
def test_figure_of_which_nothing_is_run_is_not_drawn(name):
    assert name not in figures(plan(["satimage"], ["full", "gradmatch", "random"]))


def test_the_comparison_of_selectors_needs_two_of_them():
    assert "selector-comparison" not in figures(plan(["dna"], ["full", "full-again", "gradmatch"]))
    assert "selector-comparison" not in figures(plan(["dna"], ["full", "rs2", "craig"]))


def test_catalogue_is_read_without_what_draws():
    code = "import sys, automata.views; print({'matplotlib', 'pandas', 'torch'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"


def test_figures_of_the_paper_have_no_panel_of_another_scheduler():
    found = figures(plan(["dna", "cifar10"], ["full", "gradmatch", "random"], "none"))
    assert set(found) == set(STUDIES)


def test_runs_of_different_panels_make_no_figure_together():
    found = figures(plan(["dna"], ["full"]) | plan(["cifar100"], ["gradmatch", "random"]))
    assert found == []
