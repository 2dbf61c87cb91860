"""The part of an experiment that one run reads."""

import pytest

from automata.config.files import DEFAULTS, read_experiments
from automata.config.job import settings_of

REVIEWS = {"kind": "text", "path": "r.csv", "text": "t", "target": "y"}
TPE = {"configurations": 3, "search_space": {"layers": {"choice": [2]}}}
(EXPERIMENT,) = read_experiments(
    [DEFAULTS],
    {
        "own_datasets": {"reviews": REVIEWS},
        "data": {"vectors": {"source": "v.txt", "dimension": 2}, "sst2_neutral": "scores"},
        "protocol": {"text": {"configurations": 5, "for_search": {"tpe": TPE}}},
        "search": {"tpe": {"startup_configurations": 4}},
        "scheduler": {"asha": {"grace_period": 2}, "hyperband": {"reduction_factor": 4}},
        "selector": {"gradmatch-adaptive": {"floor": 0.5}, "gradmatch": {"l2": 0.5}},
    },
)
VECTORS = {"source": "v.txt", "dimension": 2}


@pytest.mark.parametrize(
    ("dataset", "kind"), [("dna", "tabular"), ("svhn", "image"), ("reviews", "text")]
)
def test_kind_comes_from_the_catalog_or_the_user(dataset, kind):
    assert EXPERIMENT.kind(dataset) == kind


def test_a_run_reads_settings_of_its_own_methods_only():
    settings = settings_of(EXPERIMENT, "dna", "random", "asha", "gradmatch-adaptive")
    assert settings.search.tpe.startup_configurations == 20
    assert settings.scheduler.asha.grace_period == 2
    assert settings.scheduler.hyperband.reduction_factor == 3
    assert settings.selector.gradmatch_adaptive.floor == 0.5
    assert settings.selector.gradmatch.l2 == 0


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        ("dna", {}),
        ("svhn", {}),
        ("sst5", {"vectors": VECTORS}),
        ("sst2", {"vectors": VECTORS, "sst2_neutral": "scores"}),
        ("reviews", {"vectors": VECTORS, "own": {**REVIEWS, "validation": None, "test": None}}),
    ],
)
def test_preparation_has_only_settings_that_affect_the_file(dataset, expected):
    assert EXPERIMENT.preparation(dataset).stated() == expected


def test_for_search_changes_the_protocol():
    protocol = EXPERIMENT.protocol_of("sst5").under("tpe")
    assert protocol.configurations == 3
    assert list(protocol.search_space) == ["learning_rate", "hidden", "batch_size", "layers"]


def test_other_searches_use_the_protocol_unchanged():
    protocol = EXPERIMENT.protocol_of("sst5").under("random")
    assert protocol.configurations == 5
    assert list(protocol.search_space) == ["learning_rate", "hidden", "batch_size"]
