"""The catalogue: the figures that have something to show, and their functions."""

import pytest

from automata.names import DATASETS as KNOWN
from automata.registry import imported
from automata.views import BEYOND, DATASETS, FIGURES, PAPER, figures, named

OF_RUNS = named(PAPER, BEYOND)
"""Figures of all data sets; the others are drawn for each."""


def drawn(datasets, selectors, scheduler="hyperband"):
    plan = {(dataset, "tpe", scheduler): selectors for dataset in datasets}
    return set(figures(plan)) & set(OF_RUNS)


@pytest.mark.parametrize("view", FIGURES.values(), ids=list(FIGURES))
def test_every_view_has_a_function_and_a_caption_of_its_own(view):
    assert callable(imported(f"automata.figures.{view.make}"))
    assert len(view.caption.split()) > 10
    assert [one.name for one in FIGURES.values() if one.caption == view.caption] == [view.name]
    assert bool(view.datasets) == (view.group == PAPER)
    assert set(view.datasets) <= set(KNOWN)


@pytest.mark.parametrize(
    ("datasets", "selectors", "expected"),
    [
        # A figure of the paper needs one of its data sets.
        (["dna"], ["full", "random", "rs2"], ["tabular", *named(BEYOND)]),
        (["svhn"], ["full", "rs2", "random"], ["image", "energy-co2", *named(BEYOND)]),
        (
            ["cifar10"],
            ["full", "gradmatch"],
            ["performance-summary", "main", "image", "pareto", "rank-agreement", "ceiling"],
        ),
        # A user's own data set is in no figure of the paper, an own selector is compared.
        (["mine"], ["full", "gradmatch"], ["pareto", "rank-agreement", "ceiling"]),
        (["mine"], ["full", "random", "mine"], named(BEYOND)),
        # Only some pairs of selectors are compared.
        (["mine"], ["full", "rs2", "craig"], ["pareto", "rank-agreement", "ceiling"]),
        # Nothing compares without FULL, and FULL alone compares with nothing.
        (["dna"], ["gradmatch", "random"], []),
        (["dna"], ["full", "full-again", "untuned"], []),
    ],
)
def test_figures_with_something_to_show_are_drawn(datasets, selectors, expected):
    assert drawn(datasets, selectors) == set(expected)


def test_panels_of_other_schedulers_are_in_no_figure_of_the_paper():
    selectors = ["full", "gradmatch", "random"]
    assert drawn(["dna", "cifar10"], selectors, "none") == set(named(BEYOND))


def test_runs_of_different_panels_make_no_figure_together():
    plan = {("dna", "tpe", "asha"): ["full"], ("cifar100", "tpe", "asha"): ["gradmatch", "random"]}
    assert not set(figures(plan)) & set(OF_RUNS)


def test_figures_of_a_data_set_are_drawn_for_each():
    plan = {("dna", "tpe", "asha"): ["full", "rs2"], ("mine", "tpe", "asha"): ["full", "untuned"]}
    assert [name for name in figures(plan) if name.split("/")[0] in named(DATASETS)] == [
        "tradeoff/dna",
        "energy/dna",
        "anytime/dna",
        "anytime/mine",
        "time-split/dna",
        "time-split/mine",
    ]
