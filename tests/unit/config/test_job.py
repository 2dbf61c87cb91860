"""A job: the settings and files that one run reads, and nothing else."""

import pytest

from automata.config.base import parsed
from automata.config.files import DEFAULTS, combine, read_experiments
from automata.config.job import Job, settings_of
from automata.errors import UserError
from automata.registry import CONTROLS, METHODS
from automata.training.subsets import subset_plan

AXES = {"dataset": "dna", "search": "tpe", "scheduler": "asha", "selector": "gradmatch"}
RUN = {**AXES, "fraction": 0.1, "seed": 0}
SELECTOR = {"gradmatch-adaptive": {"floor": 0.5}, "gradmatch": {"l2": 0.5}}


@pytest.fixture(scope="module")
def experiment():
    (experiment,) = read_experiments([DEFAULTS], {"selector": SELECTOR})
    return experiment


def job_of(run, experiment, **protocol):
    """Return the job of a changed RUN, with changes of its protocol."""
    settings = settings_of(experiment, **{name: run.get(name, RUN[name]) for name in AXES})
    content = combine(settings.model_dump(mode="json"), {"protocol": protocol})
    return parsed(Job, {"run": {**RUN, **run}, "settings": content})


@pytest.mark.parametrize("name", METHODS)
def test_a_job_survives_json_and_builds_its_selector_with_its_settings(experiment, name):
    control = CONTROLS.get(name)
    job = job_of({"selector": name, "fraction": control.fraction if control else 0.1}, experiment)
    assert Job.model_validate_json(job.model_dump_json()) == job
    selector = subset_plan(job).selector
    target = METHODS[name].target or "automata.selection.random:Full"
    assert f"{type(selector).__module__}:{type(selector).__name__}" == target
    assert vars(selector) == experiment.selector.of(name)


@pytest.mark.parametrize(
    ("run", "protocol", "expected"),
    [
        ({"fraction": 0}, {}, "run.fraction: 0.0 is not valid; .* > 0 and <= 1 for selector grad"),
        ({"selector": "full"}, {}, "run.fraction: 0.1 is not valid; valid: 1 for selector full$"),
        ({"scheduler": "one-epoch"}, {}, "run.selector: scheduler one-epoch is for all data: sel"),
        ({}, {"epochs": 0}, "settings.protocol.epochs: 0 is not valid; valid: integer > 0$"),
    ],
)
def test_a_wrong_job_is_refused_in_one_line(experiment, run, protocol, expected):
    with pytest.raises(UserError, match=f"^{expected}"):
        job_of(run, experiment, **protocol)
