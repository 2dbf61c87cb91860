"""The paths of runs."""

from __future__ import annotations

from typing import Any, NamedTuple

from automata.config.experiment import Experiment
from automata.config.job import Job, Run, settings_of, settings_of_subsets, shared_settings
from automata.config.sources import files_read
from automata.files import fingerprint
from automata.registry import OWN

STEM = "{dataset}/{search}-{scheduler}-{protocol}/{selector}-{fraction}{variant}/seed-{seed}"
"""Path of a run in the folder of all records, of all logs or of unfinished work."""

RECORD, MODEL = "record.json", "model.safetensors"
"""Files in the folder of a run."""

DEPTH = STEM.count("/") + 2
"""Number of parts at the end of a record's path that identify its run."""


class Place(NamedTuple):
    """The parts of a run's path, which are the wildcards of rules."""

    dataset: str
    search: str
    scheduler: str
    protocol: str
    """Fingerprint of the settings that a run shares with its FULL run, and of own files."""
    selector: str
    fraction: str
    variant: str
    """A hyphen and the fingerprint of settings that concern subsets; empty at their defaults."""
    seed: str

    @property
    def stem(self) -> str:
        """The path of the run, as in `STEM`."""
        return STEM.format(**self._asdict())


def job_of(experiment: Experiment, run: Run, files: dict[str, str]) -> Job:
    """Return the job of `run`; `files` has the checksums of the user's own files, by role."""
    methods = run.search, run.scheduler, run.selector
    settings = settings_of(experiment, run.dataset, *methods)
    return Job(run=run, settings=settings, files=files_read(files, *methods))


def place_of(job: Job) -> Place:
    """Return the place of the run of `job`."""
    run, files = job.run, dict(job.files)
    subsets = settings_of_subsets(job.settings, run.selector)
    if code := files.pop(f"{OWN['selector']}.{run.selector}", None):
        subsets["file"] = code
    protocol: dict[str, Any] = {"settings": shared_settings(job.settings)}
    if files:
        protocol["files"] = files
    return Place(
        dataset=run.dataset,
        search=run.search,
        scheduler=run.scheduler,
        protocol=fingerprint(protocol),
        selector=run.selector,
        fraction=number(run.fraction),
        variant=f"-{fingerprint(subsets)}" if subsets else "",
        seed=str(run.seed),
    )


def number(value: float) -> str:
    """Return a number as it is written in paths: 1.0 as "1"."""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)
