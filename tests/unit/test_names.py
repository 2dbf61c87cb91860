"""Display names, looks and order."""

from __future__ import annotations

import inspect
from importlib import import_module

import pytest
from matplotlib.colors import to_rgb

from automata import names
from automata.analysis.study import Panel
from automata.datasets.catalog import DATASETS
from automata.registry import METHODS, SCHEDULERS, SEARCHES, SELECTORS, Method

ROWS = [*METHODS.values(), *SCHEDULERS.values()]


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize(
    ("name", "shown"),
    [("dna", "DNA"), ("connect4", "CONNECT-4"), ("glue-sst2", "glue-SST2"), ("cifar10", "CIFAR10")],
)
def test_data_sets_are_called_as_in_the_paper(name: str, shown: str) -> None:
    assert names.dataset(name) == shown


def test_a_users_own_data_set_keeps_its_name() -> None:
    assert Panel("my-set", "tpe", "hyperband").short_title == "my-set (TPE, HB)"


def test_order_is_that_of_the_table_then_by_name() -> None:
    labels = ["mine", "letter", "a", "dna"]

    assert names.ordered(labels, names.DATASETS) == ["dna", "letter", "a", "mine"]


def test_every_data_set_has_a_name() -> None:
    assert set(names.DATASETS) == set(DATASETS)


def test_selectors_that_are_compared_in_pairs_exist() -> None:
    compared = {name for pair in names.CONTRASTS for name in pair}

    assert compared <= set(SELECTORS)


def test_methods_have_different_names() -> None:
    for registry in (METHODS, SCHEDULERS, SEARCHES):
        assert len({row.display for row in registry.values()}) == len(registry)


@pytest.mark.parametrize("registry", [METHODS, SCHEDULERS], ids=["selectors", "schedulers"])
def test_entries_with_a_look_differ_in_grey(registry: dict[str, Method]) -> None:
    markers = [row.marker for row in registry.values() if row.marker]

    assert len(set(markers)) == len(markers)
    assert set(markers).isdisjoint(names.SPARE_MARKERS)


def test_no_two_subset_selectors_share_a_colour() -> None:
    colours = [row.colour for row in SELECTORS.values() if row.colour]

    assert len(set(colours)) == len(colours) > 0
    assert set(colours).isdisjoint({"#000000", *names.SPARE_COLOURS})


@pytest.mark.parametrize("name", ["mine", "another"])
def test_own_method_has_one_of_the_spare_looks(name: str) -> None:
    for own in (names.look(name), names.scheduler_look(name)):
        assert (own.display, own.meaning) == (name, "the user's own")
        assert own.colour in names.SPARE_COLOURS
        assert own.marker in names.SPARE_MARKERS


@pytest.mark.parametrize("colour", [*names.SPARE_COLOURS, *sorted({r.colour for r in ROWS} - {""})])
def test_marker_is_seen_on_white(colour: str) -> None:
    assert 1.05 / (luminance(colour) + 0.05) > 2


def test_selectors_that_read_the_validation_labels_say_so() -> None:
    sources = {
        name: inspect.getsource(import_module(row.target.partition(":")[0]))
        for name, row in SELECTORS.items()
    }
    reading = {name for name, source in sources.items() if "problem.validation" in source}

    assert reading == {name for name, row in SELECTORS.items() if row.reads_validation}
