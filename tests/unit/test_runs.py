"""A path names all that a run reads, and nothing else."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any

import pytest

from automata.config.base import added
from automata.config.experiment import Experiment
from automata.config.files import read_experiments
from automata.config.job import Job, Run, Settings
from automata.config.protocol import Protocol
from automata.runs import job_of, place_of

CONFIG = Path(__file__).parents[2] / "config"
RUN = {
    "dataset": "dna",
    "search": "tpe",
    "scheduler": "asha",
    "selector": "gradmatch",
    "fraction": 0.1,
    "seed": 0,
}


def experiment(**changes: Any) -> Experiment:
    """Return the smoke configuration, changed."""
    (found,) = read_experiments([CONFIG / "config.yaml", CONFIG / "smoke.yaml"], changes)
    return found


def place(run: dict[str, Any] | None = None, files: dict[str, str] | None = None, **changes: Any):
    """Return where a run of the changed smoke configuration lies."""
    return place_of(job_of(experiment(**changes), Run(**{**RUN, **(run or {})}), files or {}))


@pytest.mark.parametrize(
    "change",
    [
        {"protocol": {"tabular": {"epochs": 4}}},
        {"protocol": {"tabular": {"search_space": {}}}},
        {"search": {"tpe": {"startup_configurations": 7}}},
        {"scheduler": {"asha": {"warm_start": 0.2}}},
        {"compute": {"threads_per_trial": 2}},
        {"metering": {"exclusive": True}},
    ],
)
def test_a_setting_that_a_run_reads_is_another_protocol(change):
    if "search_space" in str(change):
        space = experiment().protocol_of("dna").model_dump(mode="json")["search_space"]
        narrow = {**space, "learning_rate": {"uniform": [0.001, 0.002]}}
        change = {"protocol": {"tabular": {"search_space": narrow}}}
    assert place(**change).protocol != place().protocol


@pytest.mark.parametrize(
    "change",
    [
        {"experiment": "other", "seeds": [0, 1], "fractions": [0.5]},
        {"protocol": {"image": {"epochs": 4}}},
        {"scheduler": {"hyperband": {"reduction_factor": 2}}},
        {"selector": {"glister": {"updates": 3}}},
        {"data": {"cache": "elsewhere", "vectors": {"dimension": 50}}},
        {"job": {"memory_mb": 1}, "carbon": {"pue": 1.5}, "comparison": {"resumed": True}},
    ],
)
def test_a_setting_that_a_run_does_not_read_changes_no_path(change):
    assert place(**change) == place()


def test_a_default_that_is_stated_changes_no_path():
    stated = {"protocol": {"tabular": {"momentum": 0.0, "nesterov": False, "epochs": 3}}}
    assert place(**stated) == place()


def test_settings_of_a_selector_are_no_other_protocol():
    changed = {"selector": {"gradmatch": {"l2": 0.5}}}
    expected = hashlib.sha256(b'{"l2": 0.5, "tolerance": 0.0}').hexdigest()[:8]
    assert place(**changed) == place()._replace(variant=f"-{expected}")
    assert place({"selector": "full", "fraction": 1}, **changed) == place(
        {"selector": "full", "fraction": 1}
    )


def test_content_of_the_users_files_is_another_protocol():
    one, two = place(files={"own.path": "a"}), place(files={"own.path": "b"})
    assert len({place().protocol, one.protocol, two.protocol}) == 3


def test_paths_of_the_smoke_experiment_stay_what_they_are():
    """Whoever has to change this moves the runs of every user."""
    run = {"search": "random", "scheduler": "hyperband", "selector": "full", "fraction": 1}
    assert place(run).stem == "dna/random-hyperband-4af660c7/full-1/seed-0"


class Later(Protocol):
    """A protocol with a key that a later version adds."""

    label_smoothing: Annotated[float, added(0.0)] = 0.0


class LaterSettings(Settings):
    """Settings with it."""

    protocol: Later


def later(**protocol: Any) -> Job:
    """Return the job of the run by a later version, with more of its protocol stated."""
    settings = job_of(experiment(), Run(**RUN), {}).settings.model_dump()
    settings["protocol"] |= protocol
    return Job.model_construct(
        run=Run(**RUN), settings=LaterSettings.model_validate(settings), files={}
    )


def test_a_new_key_at_its_default_moves_repeats_and_makes_incomparable_nothing():
    before = job_of(experiment(), Run(**RUN), {})
    for after in (later(), later(label_smoothing=0.0)):
        assert place_of(after) == place_of(before)
        assert after.settings.model_dump_json() == before.settings.model_dump_json()


def test_a_new_key_with_another_value_is_another_protocol():
    after = later(label_smoothing=0.1)
    assert place_of(after).protocol != place().protocol
    assert json.loads(after.settings.model_dump_json())["protocol"]["label_smoothing"] == 0.1


def test_preparation_states_what_it_rests_on():
    assert experiment().preparation("dna").stated() == {}
    random = experiment(data={"vectors": {"source": None, "dimension": 5}})
    assert random.preparation("trec6").stated() == {"vectors": {"source": None, "dimension": 5}}
