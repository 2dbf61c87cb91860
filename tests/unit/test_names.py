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
def test_methods_differ_in_name_and_marker(registry):
    markers = [row.marker for row in registry.values() if row.marker]
    assert len({row.display for row in registry.values()}) == len(registry)
    assert len(set(markers)) == len(markers)
    assert set(markers).isdisjoint(names.SPARE_MARKERS)


def test_selectors_differ_in_colour():
    colours = [row.colour for row in SELECTORS.values()]
    assert len(set(colours)) == len(colours)
    assert set(colours).isdisjoint({"#000000", *names.SPARE_COLOURS})


@pytest.mark.parametrize("name", ["mine", "another"])
def test_own_method_has_one_of_the_spare_looks(name):
    for own in (names.look(name), names.scheduler_look(name)):
        assert (own.display, own.meaning) == (name, "the user's own")
        assert own.colour in names.SPARE_COLOURS
        assert own.marker in names.SPARE_MARKERS


def test_selectors_that_read_the_validation_labels_are_marked():
    sources = {
        name: inspect.getsource(import_module(row.target.partition(":")[0]))
        for name, row in SELECTORS.items()
    }
    reading = {name for name, source in sources.items() if "problem.validation" in source}
    assert reading == {name for name, row in SELECTORS.items() if row.reads_validation}
