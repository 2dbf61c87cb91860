"""Which settings differ from the paper's protocol; the published tables have machine and grid."""

import pytest

from automata.analysis.differences import COLUMNS, differences
from automata.config.files import SHIPPED, read_experiments
from automata.config.job import settings_of
from support.synthetic import synthetic_runs

from .conftest import changed

PAPER = read_experiments([SHIPPED / "config.yaml", SHIPPED / "paper.yaml"])


def settings(dataset, search, scheduler, changes=()):
    """Return the paper's settings as records have them, with other values at these paths."""
    experiment = next(config for config in PAPER if dataset in config.datasets)
    content = experiment.model_dump(mode="json", by_alias=True)
    (other,) = read_experiments([], changed(content, dict(changes)))
    found = settings_of(other, dataset, search, scheduler, "full")
    return found.model_dump(mode="json", exclude={"selector", "metering"})


def grid(dataset="dna", search="tpe", scheduler="asha"):
    """Return the runs of one panel as the paper made them."""
    runs = synthetic_runs(datasets=(dataset,), searches=(search,), schedulers=(scheduler,))
    return runs.assign(device="Tesla V100-SXM2-16GB", energy_method="measured")


def found(runs, changes=()):
    """Return key -> (here, paper) of the runs of a panel under changed settings of the paper."""
    name = runs["protocol_hash"].iloc[0]
    panel = runs[["dataset", "search", "scheduler"]].iloc[0]
    table = differences(runs, {name: settings(*panel, changes)}, PAPER)
    return {row["key"]: (row["here"], row["paper"]) for row in table.to_dict("records")}


@pytest.mark.parametrize("dataset", [d for config in PAPER for d in config.datasets])
def test_the_papers_own_experiment_does_not_differ(dataset):
    assert found(grid(dataset, "random", "hyperband")) == {}
    assert found(grid(dataset, "tpe", "asha")) == {}


VECTORS = "data/vectors/source"
WARM = {"scheduler/asha/warm_start": 0.5}


@pytest.mark.parametrize(
    ("panel", "changes", "expected"),
    [
        (["dna"], {"protocol/tabular/optimizer": "adam"}, {}),  # it is tuned
        # Settings of another scheduler are nothing to this one.
        (["dna", "tpe", "hyperband"], WARM, {}),
        (["dna"], WARM, {"warm_start": ("0.5", "0.35")}),
        # The machine is no part of the protocol, coarser arithmetic is.
        (["sst5"], {"compute/threads_per_trial": 8, "compute/device": "cpu", "carbon/pue": 2}, {}),
        (["sst5"], {"compute/precision": "bfloat16"}, {"precision": ("bfloat16", "float32")}),
        # Word vectors are known by their file.
        (["trec6"], {VECTORS: "/mine/glove.6B.zip"}, {}),
        (["trec6"], {VECTORS: None}, {"word vectors": ("random", "glove.6B.zip")}),
        (
            ["sst5"],
            {"protocol/text/search_space/hidden": {"choice": [8, 16]}},
            {"search space of hidden": ("choice 8, 16", "choice 64, 128, 256")},
        ),
    ],
)
def test_settings_that_decide_how_a_panel_is_tuned_are_compared(panel, changes, expected):
    assert found(grid(*panel), changes) == expected


def test_a_panel_with_two_protocols_shows_both():
    runs = grid()
    runs.loc[runs["seed"] > 2, "protocol_hash"] = "other"
    panel = ("dna", "tpe", "asha")
    both = settings(*panel), settings(*panel, {"protocol/tabular/epochs": 7})
    protocols = dict(zip(runs["protocol_hash"].unique(), both, strict=True))
    table = differences(runs, protocols, PAPER)
    assert table[COLUMNS[3:]].to_numpy().tolist() == [["epochs", "200 or 7", "200"]]
