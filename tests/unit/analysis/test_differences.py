"""What differs from the paper's protocol: settings, machine, grid, and a user's own data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from automata.analysis.differences import COLUMNS, differences, in_words
from automata.config.experiment import Experiment
from automata.config.files import read_experiments
from automata.config.job import settings_of
from support.synthetic import synthetic_runs

CONFIG = Path(__file__).parents[3] / "config"


PAPER = read_experiments([CONFIG / "config.yaml", CONFIG / "paper.yaml"])


def settings(config: dict[str, Any], dataset: str, search: str, scheduler: str) -> dict[str, Any]:
    """Return the settings as a record of a run has them."""
    (experiment,) = read_experiments([], config)
    found = settings_of(experiment, dataset, search, scheduler, "full")
    return found.model_dump(mode="json", exclude={"selector", "metering"})


def of_panel(
    config: dict[str, Any],
    dataset: str = "satimage",
    search: str = "tpe",
    scheduler: str = "asha",
    runs: pd.DataFrame | None = None,
    measured: bool = True,
) -> dict[str, tuple[str, str]]:
    """Return key -> (here, paper) of runs on a V100 under `config`."""
    if runs is None:
        runs = synthetic_runs(datasets=(dataset,), searches=(search,), schedulers=(scheduler,))
        runs["device"] = "Tesla V100-SXM2-16GB"
    protocol = settings(config, dataset, search, scheduler)
    runs = runs.assign(energy_method="measured") if measured else runs
    protocols = dict.fromkeys(runs["protocol_hash"], protocol)
    table = differences(runs, protocols, PAPER)
    assert list(table.columns) == COLUMNS
    return {row["key"]: (row["here"], row["paper"]) for row in table.to_dict("records")}


def as_written(experiment: Experiment) -> dict[str, Any]:
    return experiment.model_dump(mode="json", by_alias=True)


def paper_of(dataset: str) -> dict[str, Any]:
    return as_written(next(config for config in PAPER if dataset in config.datasets))


@pytest.mark.parametrize("dataset", [d for config in PAPER for d in config.datasets])
@pytest.mark.parametrize("search", ["random", "tpe"])
@pytest.mark.parametrize("scheduler", ["hyperband", "asha"])
def test_the_papers_own_experiment_does_not_differ(dataset, search, scheduler):
    assert of_panel(paper_of(dataset), dataset, search, scheduler) == {}


def test_settings_of_the_default_experiment_that_differ():
    (default,) = read_experiments([CONFIG / "config.yaml"])
    assert of_panel(as_written(default)) == {
        "epochs": ("40", "200"),
        "reselect_every": ("5", "10"),
        "startup_configurations": ("10", "20"),
    }


def test_startup_configurations_of_tpe_are_nothing_to_random_search():
    (default,) = read_experiments([CONFIG / "config.yaml"])
    assert sorted(of_panel(as_written(default), search="random")) == ["epochs", "reselect_every"]


def test_settings_of_another_search_are_left_out_of_a_record_that_has_them():
    runs = synthetic_runs(datasets=("dna",), searches=("random",), schedulers=("asha",))
    runs = runs.assign(device="V100", energy_method="measured")
    protocol = settings(paper_of("dna"), "dna", "random", "asha")
    protocol["search"]["tpe"]["startup_configurations"] = 3
    assert differences(runs, {"tabular-random-asha": protocol}, PAPER).empty


def test_a_fixed_value_is_nothing_where_it_is_tuned():
    config = paper_of("dna")
    config["protocol"]["tabular"]["optimizer"] = "adam"
    assert of_panel(config, "dna") == {}


def test_settings_of_another_scheduler_are_nothing_to_this_one():
    config = paper_of("dna")
    config["scheduler"]["asha"]["warm_start"] = 0.5
    assert of_panel(config, "dna", scheduler="hyperband") == {}
    assert of_panel(config, "dna", scheduler="asha") == {"warm_start": ("0.5", "0.35")}


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("compute", "threads_per_trial", 8),
        ("compute", "device", "cpu"),
        ("metering", "sample_seconds", 1.0),
        ("data", "cache", "elsewhere"),
        ("carbon", "pue", 1.5),
    ],
)
def test_settings_of_the_machine_are_left_out(section, key, value):
    config = paper_of("sst5")
    config[section][key] = value
    assert of_panel(config, "sst5") == {}


def test_coarser_arithmetic_is_a_difference():
    config = paper_of("sst5")
    config["compute"]["precision"] = "bfloat16"
    assert of_panel(config, "sst5") == {"precision": ("bfloat16", "float32")}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("/mine/glove.6B.zip", {}),
        (None, {"word vectors": ("random", "glove.6B.zip")}),
        ("/mine/small.npz", {"word vectors": ("small.npz", "glove.6B.zip")}),
    ],
)
def test_word_vectors_are_known_by_their_file(source, expected):
    config = paper_of("trec6")
    config["data"]["vectors"]["source"] = source
    assert of_panel(config, "trec6") == expected


def test_neutral_sentences_matter_to_sst2_alone():
    config = paper_of("sst2")
    config["data"]["sst2_neutral"] = "trees"
    assert of_panel(config, "sst2") == {"neutral sentences": ("trees", "scores")}
    assert of_panel(config, "sst5") == {}


def test_a_search_space_differs_by_hyper_parameter():
    config = paper_of("sst5")
    config["protocol"]["text"]["search_space"]["hidden"] = {"choice": [8, 16]}
    config["protocol"]["text"]["for_search"]["random"]["search_space"] = {}
    assert of_panel(config, "sst5", search="random") == {
        "search space of hidden": ("choice 8, 16", "choice 64, 128, 256"),
        "search space of layers": ("none", "choice 1, 2"),
    }


@pytest.mark.parametrize("device", ["cpu", "NVIDIA H200"])
def test_another_device_is_a_difference(device):
    runs = synthetic_runs(datasets=("dna",), searches=("tpe",), schedulers=("asha",))
    runs["device"] = device
    expected = {"device": (device, "RTX 1080, RTX 2080 or V100")}
    assert of_panel(paper_of("dna"), "dna", runs=runs) == expected


def test_what_was_run_of_the_grid():
    runs = synthetic_runs(
        datasets=("dna",), searches=("tpe",), schedulers=("asha",), repeats=2, fractions=(0.05, 0.1)
    )
    runs["device"] = "V100"
    assert of_panel(paper_of("dna"), "dna", runs=runs) == {
        "fractions": ("0.05, 0.1", "0.01, 0.05, 0.1, 0.3"),
        "seeds": ("2", "5"),
    }


@pytest.mark.parametrize(
    ("method", "source", "words"),
    [
        ("estimated", "codecarbon CPU load", "estimated from CPU time"),
        ("estimated", "pyJoules NVML", "NVML counters, CPU estimated from CPU time"),
        (None, None, "not measured"),
    ],
)
def test_energy_that_was_not_measured_is_a_difference(method, source, words):
    runs = synthetic_runs(datasets=("dna",), searches=("tpe",), schedulers=("asha",))
    runs = runs.assign(device="V100", energy_method=method, energy_source=source)
    table = of_panel(paper_of("dna"), "dna", runs=runs, measured=False)
    assert table == {"energy": (words, "measured")}


def test_the_seeds_of_controls_are_not_those_of_the_experiment():
    runs = synthetic_runs(datasets=("dna",), searches=("tpe",), schedulers=("asha",))
    draws = runs[runs["selector"] == "full"].assign(selector="untuned", fraction=0.0)
    many = pd.concat([runs, draws.assign(seed=draws["seed"] + 100)]).assign(device="V100")
    assert of_panel(paper_of("dna"), "dna", runs=many) == {}


def test_a_scheduler_that_the_paper_did_not_use():
    runs = synthetic_runs(datasets=("dna",), searches=("tpe",), schedulers=("asha",))
    runs["scheduler"], runs["device"] = "none", "V100"
    table = of_panel(paper_of("dna"), "dna", scheduler="none", runs=runs)
    assert table == {"scheduler": ("none", "hyperband, asha")}


def test_a_users_own_data_set_has_one_row():
    runs = synthetic_runs(datasets=("dna",), searches=("tpe",), schedulers=("asha",))
    runs["dataset"] = "mine"
    table = differences(runs, {}, PAPER)
    assert table.to_numpy().tolist() == [
        ["mine", "tpe", "asha", "data set", "mine", "not in the paper"]
    ]
    assert in_words(table, [("mine", "tpe", "asha")]) == "data set mine (not in the paper)"


def test_settings_that_are_missing_are_not_taken_for_the_papers():
    runs = synthetic_runs(datasets=("dna",), searches=("tpe",), schedulers=("asha",))
    assert "settings" in set(differences(runs, {}, PAPER)["key"])


def test_a_panel_with_two_protocols_shows_both():
    runs = synthetic_runs(datasets=("dna",), searches=("tpe",), schedulers=("asha",))
    runs["device"], runs["energy_method"] = "V100", "measured"
    runs.loc[runs["seed"] > 2, "protocol_hash"] = "other"
    config = paper_of("dna")
    protocols = {"tabular-tpe-asha": settings(config, "dna", "tpe", "asha")}
    config["protocol"]["tabular"]["epochs"] = 7
    protocols["other"] = settings(config, "dna", "tpe", "asha")
    (row,) = differences(runs, protocols, PAPER).to_dict("records")
    assert (row["key"], row["here"], row["paper"]) == ("epochs", "200 or 7", "200")


def table(*rows: tuple[str, str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(
        [[dataset, "tpe", "asha", key, here, paper] for dataset, key, here, paper in rows],
        columns=COLUMNS,
    )


def test_words_join_the_panels_and_say_where_only_some_differ():
    differing = table(
        ("dna", "epochs", "40", "200"),
        ("dna", "seeds", "1", "5"),
        ("sst5", "epochs", "10", "20"),
        ("letter", "epochs", "1", "200"),
    )
    panels = [("dna", "tpe", "asha"), ("sst5", "tpe", "asha")]
    assert in_words(differing, panels) == (
        "epochs 40 or 10 (paper: 200 or 20), seeds 1 (paper: 5) in 1 of 2 panels"
    )


def test_words_of_nothing_are_none():
    assert in_words(table(), [("dna", "tpe", "asha")]) == "none"
