"""Display names, looks and order."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from matplotlib.colors import to_rgb

from automata import names
from automata.analysis.study import Panel
from automata.datasets.catalog import DATASETS
from automata.registry import CONTROLS, SCHEDULERS, SEARCHES, SELECTORS

ROWS = [*names.METHODS.values(), *names.SCHEDULERS.values()]


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


@pytest.mark.parametrize(
    ("table", "registry"),
    [
        (names.DATASETS, DATASETS),
        (names.METHODS, SELECTORS | CONTROLS),
        (names.SEARCHES, SEARCHES),
        (names.SCHEDULERS, SCHEDULERS),
    ],
    ids=["data sets", "selectors", "searches", "schedulers"],
)
def test_everything_that_can_be_run_has_a_name(
    table: dict[str, Any], registry: dict[str, Any]
) -> None:
    assert set(table) == set(registry)


def test_selectors_that_are_compared_in_pairs_exist() -> None:
    compared = {name for pair in names.CONTRASTS for name in pair}

    assert compared <= set(SELECTORS)


@pytest.mark.parametrize("what", ["display", "marker"])
def test_no_two_methods_look_alike_in_grey(what: str) -> None:
    assert len({getattr(row, what) for row in names.METHODS.values()}) == len(names.METHODS)


def test_no_two_subset_selectors_share_a_colour() -> None:
    colours = [names.METHODS[name].colour for name in SELECTORS]

    assert len(set(colours)) == len(colours) > 0
    assert "#000000" not in colours


@pytest.mark.parametrize("colour", sorted({row.colour for row in ROWS}))
def test_marker_is_seen_on_white(colour: str) -> None:
    assert 1.05 / (luminance(colour) + 0.05) > 2


def test_schedulers_differ_in_grey_too() -> None:
    for one, other in combinations(names.SCHEDULERS.values(), 2):
        assert one.marker != other.marker
