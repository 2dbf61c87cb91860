"""Display names, looks and order."""

import inspect
from importlib import import_module

from automata import names
from automata.analysis.study import Panel
from automata.datasets.catalog import DATASETS
from automata.registry import METHODS, SCHEDULERS, SEARCHES, SELECTORS


def test_data_sets_have_the_papers_names_and_order_and_a_users_own_follow_by_name():
    assert set(names.DATASETS) == set(DATASETS)
    labels = ["mine", "letter", "a", "dna"]
    assert names.ordered(labels, names.DATASETS) == ["dna", "letter", "a", "mine"]
    assert Panel("my-set", "tpe", "hyperband").short_title == "my-set (TPE, HB)"


def test_methods_differ_in_name_marker_and_colour():
    for registry in (METHODS, SCHEDULERS, SEARCHES):
        assert len({row.display for row in registry.values()}) == len(registry)
        markers = [row.marker for row in registry.values() if row.marker]
        markers += names.SPARE_MARKERS
        assert len(set(markers)) == len(markers)
    colours = [*(row.colour for row in SELECTORS.values()), *names.SPARE_COLOURS]
    assert len(set(colours)) == len(colours)


def test_own_method_has_one_of_the_spare_looks():
    for own in (names.look("mine"), names.scheduler_look("mine")):
        assert (own.display, own.meaning) == ("mine", "the user's own")
        assert own.colour in names.SPARE_COLOURS
        assert own.marker in names.SPARE_MARKERS


def test_selectors_that_read_the_validation_labels_are_marked():
    for row in SELECTORS.values():
        source = inspect.getsource(import_module(row.target.partition(":")[0]))
        assert ("problem.validation" in source) == row.reads_validation
