"""The catalogue: what is drawn of which experiment, and that every view can be made."""

from __future__ import annotations

import subprocess
import sys

import pytest

from automata.names import CONTROLS
from automata.names import DATASETS as KNOWN
from automata.registry import imported
from automata.views import BEYOND, DATASETS, FIGURES, PAPER, figures, named

OF_RUNS = named(PAPER, BEYOND)
"""Figures of all data sets: the others are drawn for each."""


def drawn(datasets, selectors, scheduler="hyperband"):
    plan = {(dataset, "tpe", scheduler): selectors for dataset in datasets}
    return set(figures(plan)) & set(OF_RUNS)


@pytest.mark.parametrize("view", FIGURES.values(), ids=list(FIGURES))
def test_every_view_has_a_function_and_words_of_its_own(view):
    assert callable(imported(f"automata.figures.{view.make}"))
    assert len(view.caption.split()) > 10
    assert [one.name for one in FIGURES.values() if one.caption == view.caption] == [view.name]


def test_figures_of_the_paper_are_of_its_data_sets():
    shown = {name: FIGURES[name].datasets for name in OF_RUNS}
    assert [name for name, datasets in shown.items() if datasets] == named(PAPER)
    assert {dataset for datasets in shown.values() for dataset in datasets} <= set(KNOWN)


@pytest.mark.parametrize(
    ("datasets", "selectors", "expected"),
    [
        # One of each paper's figure's data sets is enough.
        (["dna"], ["full", "random", "gradmatch"], ["tabular", *named(BEYOND)]),
        (["svhn"], ["full", "rs2", "random"], ["image", "energy-co2", *named(BEYOND)]),
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
def test_figure_is_drawn_where_the_grid_has_what_it_shows(datasets, selectors, expected):
    found = drawn(datasets, selectors)

    assert set(expected) <= found
    if "full" not in selectors or set(selectors) <= set(CONTROLS):
        assert found == set(expected)


def test_figure_of_a_data_set_is_drawn_for_each():
    plan = {("dna", "tpe", "asha"): ["full", "rs2"], ("mine", "tpe", "asha"): ["full", "untuned"]}
    assert [name for name in figures(plan) if name.split("/")[0] in named(DATASETS)] == [
        "tradeoff/dna",
        "energy/dna",
        "anytime/dna",
        "anytime/mine",
        "time-split/dna",
        "time-split/mine",
    ]


def test_own_selector_is_in_the_comparison_of_selectors():
    assert "selector-comparison" in drawn(["dna"], ["full", "random", "mine"])


@pytest.mark.parametrize("name", ["main", "text", "image", "energy-co2", "performance-summary"])
def test_figure_of_which_nothing_is_run_is_not_drawn(name):
    assert name not in drawn(["satimage"], ["full", "gradmatch", "random"])


def test_the_comparison_of_selectors_needs_two_of_them():
    assert "selector-comparison" not in drawn(["dna"], ["full", "full-again", "gradmatch"])
    assert "selector-comparison" not in drawn(["dna"], ["full", "rs2", "craig"])


def test_catalogue_is_read_without_what_draws():
    code = "import sys, automata.views; print({'matplotlib', 'pandas', 'torch'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"


def test_figures_of_the_paper_have_no_panel_of_another_scheduler():
    found = drawn(["dna", "cifar10"], ["full", "gradmatch", "random"], "none")
    assert found == set(named(BEYOND))


def test_runs_of_different_panels_make_no_figure_together():
    plan = {("dna", "tpe", "asha"): ["full"], ("cifar100", "tpe", "asha"): ["gradmatch", "random"]}
    assert not set(figures(plan)) & set(OF_RUNS)
