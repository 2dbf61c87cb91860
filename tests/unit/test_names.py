"""Display names, looks and order; the catalogue of figures that have something to show."""

import inspect
from importlib import import_module

import pytest

from automata import names
from automata.analysis.study import Panel
from automata.analysis.views import BEYOND, PAPER, figures, named
from automata.catalog import DATASETS
from automata.registry import METHODS, SCHEDULERS, SEARCHES, SELECTORS

OF_RUNS = named(PAPER, BEYOND)
"""Figures of all data sets; the others are drawn for each."""


def test_data_sets_have_the_papers_names_and_order_and_a_users_own_follow_by_name():
    assert set(names.DATASETS) == set(DATASETS)
    labels = ["mine", "letter", "a", "dna"]
    assert names.ordered(labels, names.DATASETS) == ["dna", "letter", "a", "mine"]
    assert Panel("my-set", "tpe", "hyperband").title == "my-set (TPE, HB)"


def test_methods_differ_in_name_marker_and_colour():
    for registry in (METHODS, SCHEDULERS, SEARCHES):
        assert len({row.display for row in registry.values()}) == len(registry)
    assert names.LOOKS.keys() <= METHODS.keys()
    assert names.SCHEDULER_LOOKS.keys() <= SCHEDULERS.keys()
    for looks in (names.LOOKS, names.SCHEDULER_LOOKS):
        markers = [*(marker for _, marker in looks.values()), *names.SPARE_MARKERS]
        assert len(set(markers)) == len(markers)
    colours = [names.LOOKS[name][0] for name in SELECTORS if name in names.LOOKS]
    colours += names.SPARE_COLOURS
    assert len(set(colours)) == len(colours)


def test_selectors_that_read_the_validation_labels_are_marked():
    for row in SELECTORS.values():
        source = inspect.getsource(import_module(row.target.partition(":")[0]))
        assert ("problem.validation" in source) == row.reads_validation


@pytest.mark.parametrize(
    ("datasets", "selectors", "expected"),
    [
        # A figure of the paper needs one of its data sets.
        (["dna"], ["full", "random", "rs2"], ["tabular", *named(BEYOND)]),
        (["svhn"], ["full", "rs2", "random"], ["image", "energy-co2", *named(BEYOND)]),
        # A user's own data set is in no figure of the paper, an own selector is compared.
        (["mine"], ["full", "gradmatch"], {*named(BEYOND)} - {"selector-comparison"}),
        (["mine"], ["full", "random", "mine"], named(BEYOND)),
        # Nothing compares without FULL, and FULL alone compares with nothing.
        (["dna"], ["gradmatch", "random"], []),
        (["dna"], ["full", "full-again", "untuned"], []),
    ],
)
def test_figures_with_something_to_show_are_drawn(datasets, selectors, expected):
    plan = {(dataset, "tpe", "hyperband"): selectors for dataset in datasets}
    assert set(figures(plan)) & set(OF_RUNS) == set(expected)
