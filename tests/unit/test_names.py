"""Display names, looks and order."""

import inspect
from importlib import import_module

import pytest

from automata import names
from automata.analysis.study import Panel
from automata.datasets.catalog import DATASETS
from automata.registry import METHODS, SCHEDULERS, SEARCHES, SELECTORS


def test_data_sets_have_the_papers_names_and_a_users_own_keep_theirs():
    assert set(names.DATASETS) == set(DATASETS)
    assert names.dataset("glue-sst2") == "glue-SST2"
    assert Panel("my-set", "tpe", "hyperband").short_title == "my-set (TPE, HB)"


def test_order_is_that_of_the_table_and_then_by_name():
    labels = ["mine", "letter", "a", "dna"]
    assert names.ordered(labels, names.DATASETS) == ["dna", "letter", "a", "mine"]


@pytest.mark.parametrize("registry", [METHODS, SCHEDULERS, SEARCHES])
def test_methods_differ_in_name_marker_and_colour(registry):
    assert len({row.display for row in registry.values()}) == len(registry)
    markers = [row.marker for row in registry.values() if row.marker]
    assert len({*markers, *names.SPARE_MARKERS}) == len(markers) + len(names.SPARE_MARKERS)
    colours = [row.colour for row in SELECTORS.values()]
    assert len({*colours, *names.SPARE_COLOURS}) == len(colours) + len(names.SPARE_COLOURS)


def test_own_method_has_one_of_the_spare_looks():
    for own in (names.look("mine"), names.scheduler_look("mine")):
        assert (own.display, own.meaning) == ("mine", "the user's own")
        assert own.colour in names.SPARE_COLOURS
        assert own.marker in names.SPARE_MARKERS


def test_selectors_that_read_the_validation_labels_are_marked():
    for row in SELECTORS.values():
        source = inspect.getsource(import_module(row.target.partition(":")[0]))
        assert ("problem.validation" in source) == row.reads_validation
