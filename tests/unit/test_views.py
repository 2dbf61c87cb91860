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


def test_every_view_has_a_function_and_a_caption_of_its_own():
    for view in FIGURES.values():
        assert callable(imported(f"automata.figures.{view.make}"))
        assert bool(view.datasets) == (view.group == PAPER)
        assert set(view.datasets) <= set(KNOWN)
    assert len({view.caption for view in FIGURES.values()}) == len(FIGURES)


@pytest.mark.parametrize(
    ("datasets", "selectors", "expected"),
    [
        # A figure of the paper needs one of its data sets.
        (["dna"], ["full", "random", "rs2"], ["tabular", *named(BEYOND)]),
        (["svhn"], ["full", "rs2", "random"], ["image", "energy-co2", *named(BEYOND)]),
        # A user's own data set is in no figure of the paper, an own selector is compared.
        (["mine"], ["full", "gradmatch"], ["pareto", "rank-agreement", "ceiling"]),
        (["mine"], ["full", "random", "mine"], named(BEYOND)),
        # Nothing compares without FULL, and FULL alone compares with nothing.
        (["dna"], ["gradmatch", "random"], []),
        (["dna"], ["full", "full-again", "untuned"], []),
    ],
)
def test_figures_with_something_to_show_are_drawn(datasets, selectors, expected):
    assert drawn(datasets, selectors) == set(expected)


def test_panels_of_other_schedulers_and_of_different_panels_are_not_drawn_together():
    selectors = ["full", "gradmatch", "random"]
    assert drawn(["dna", "cifar10"], selectors, "none") == set(named(BEYOND))
    plan = {("dna", "tpe", "asha"): ["full"], ("cifar100", "tpe", "asha"): ["gradmatch", "random"]}
    assert not set(figures(plan)) & set(OF_RUNS)


def test_figures_of_a_data_set_are_drawn_for_each():
    plan = {("dna", "tpe", "asha"): ["full", "rs2"], ("mine", "tpe", "asha"): ["full", "untuned"]}
    made = {name for name in figures(plan) if name.split("/")[0] in named(DATASETS)}
    both = {
        f"{name}/{dataset}" for name in ("anytime", "time-split") for dataset in ("dna", "mine")
    }
    assert made == {"tradeoff/dna", "energy/dna", *both}
