"""What one run reads of a configuration."""

import pytest

from automata.experiments.settings import kind_of, preparation_of, settings_of, under_search

CONFIG = {
    "own_datasets": {"reviews": {"kind": "text", "path": "r.csv", "text": "t", "target": "y"}},
    "data": {"mirror": "m", "vectors": {"source": "v.txt", "dimension": 2}, "sst2_neutral": "x"},
    "protocol": {
        "tabular": {"configurations": 5, "search_space": {"a": 1}},
        "text": {
            "configurations": 5,
            "search_space": {"a": 1},
            "for_search": {"tpe": {"configurations": 3, "search_space": {"b": 2}}},
        },
    },
    "search": {"tpe": {"startup_configurations": 4}},
    "scheduler": {"asha": {"grace_period": 1}, "hyperband": {"reduction_factor": 3}},
    "selector": {"gradmatch": {"l2": 0.0}},
    "compute": {"device": "cpu"},
    "metering": {"exclusive": True},
}


@pytest.mark.parametrize(
    ("dataset", "kind"), [("dna", "tabular"), ("svhn", "image"), ("reviews", "text")]
)
def test_kind_comes_from_the_catalog_or_the_user(dataset, kind):
    assert kind_of(CONFIG, dataset) == kind


def test_a_run_reads_its_own_methods_only():
    settings = settings_of(CONFIG, "dna", "random", "asha", "craig")
    parts = [settings[name] for name in ("search", "scheduler", "selector")]
    assert parts == [{}, {"asha": {"grace_period": 1}}, {}]


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        ("dna", {}),
        ("svhn", {}),
        ("sst5", {"vectors": CONFIG["data"]["vectors"]}),
        ("sst2", {"vectors": CONFIG["data"]["vectors"], "sst2_neutral": "x"}),
        (
            "reviews",
            {"vectors": CONFIG["data"]["vectors"], "own": CONFIG["own_datasets"]["reviews"]},
        ),
    ],
)
def test_a_prepared_file_depends_on_what_is_in_it_only(dataset, expected):
    assert preparation_of(CONFIG, dataset) == expected


def test_a_search_changes_its_protocol():
    changed = {"configurations": 3, "search_space": {"a": 1, "b": 2}}
    assert under_search(CONFIG["protocol"]["text"], "tpe") == changed


def test_other_searches_take_the_protocol_as_it_is():
    plain = {"configurations": 5, "search_space": {"a": 1}}
    assert under_search(CONFIG["protocol"]["text"], "random") == plain
