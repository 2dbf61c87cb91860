"""The table of runs, a row per record: the type, getter and meaning of each column."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast, get_type_hints

import pandas as pd

from automata.analysis.wording import readable
from automata.config.job import Settings, shared_settings
from automata.config.sections import Comparison
from automata.metrics import METRICS
from automata.records.measurement import (
    Measurement,
    common,
    complete_sum,
    foreign_share,
    joules,
)
from automata.records.progress import Evaluation, Progress
from automata.records.record import Record

T = TypeVar("T")

RESUMED = "was resumed, or extends a search (comparison.resumed)"
"""Why a resumed run is not compared."""


class Source(NamedTuple):
    """A record with what the columns read of it."""

    record: Record
    path: Path
    comparison: Comparison
    settings: Settings
    trainings: list[Progress]
    """The trainings of the search."""
    score: Evaluation | None
    """The last evaluation of the best trial; None without a search."""
    split: dict[str, float]
    """The seconds of the search by activity."""
    rows: int
    """Rows of the training set."""


def _column(getter: Callable[[Source], T]) -> T:
    """Return the getter of a column, typed as the column's values."""
    return cast(T, getter)


class RunRow:
    """A row of the table of runs; None means not measured."""

    dataset: str = _column(lambda run: run.record.job.run.dataset)
    """data set"""
    search: str = _column(lambda run: run.record.job.run.search)
    """search algorithm, which proposes configurations"""
    scheduler: str = _column(lambda run: run.record.job.run.scheduler)
    """scheduler, which stops trials early"""
    selector: str = _column(lambda run: run.record.job.run.selector)
    """selector of subsets, or control"""
    fraction: float = _column(lambda run: run.record.job.run.fraction)
    """size of the subsets, as a share of the training set"""
    seed: int = _column(lambda run: run.record.job.run.seed)
    """seed of the run"""
    tuning_seconds: float = _column(lambda run: _wall_seconds(run.record.tuning.measurement))
    """wall time of the search, from the start of the first trial to the end of the last; the four
    `tuning_*_seconds` add up to it"""
    final_seconds: float = _column(
        lambda run: _wall_seconds(run.record.final.measurement if run.record.final else None)
    )
    """wall time of the final training on all data; 0 for FULL, which tests its best trial"""
    total_seconds: float = _column(lambda run: sum(map(_wall_seconds, run.record.phases)))
    """search plus final training"""
    setup_seconds: float = _column(
        lambda run: sum(segment.setup_seconds for segment in run.record.segments)
    )
    """start of Ray, imports and data, which no other column counts; with several trials at once,
    a phase contains the start of the second and later workers"""
    cpu_seconds: float | None = _column(
        lambda run: complete_sum([phase.cpu_seconds for phase in run.record.phases])
    )
    """CPU time of the job's processes in both phases"""
    energy_joules: float | None = _column(lambda run: joules(run.record.phases))
    """energy of the search and the final training"""
    energy_method: str | None = _column(lambda run: common(run.record.phases, "energy_method"))
    """`measured` (counters) or `estimated` (from CPU time); empty if the two phases differ"""
    energy_source: str | None = _column(lambda run: common(run.record.phases, "energy_source"))
    """library and counters that gave the energy"""
    exclusive: bool = _column(lambda run: all(phase.exclusive for phase in run.record.phases))
    """whether no other measured job ran on the host"""
    other_cpu_share: float | None = _column(lambda run: _other_cpu_share(run.record))
    """share of the host's CPU time of other processes, in the worse phase; repeat runs above 0.1"""
    flags: str = _column(
        lambda run: " ".join(sorted({f for part in run.record.phases for f in part.flags}))
    )
    """reasons to doubt the energy: `short_window` (a phase under 10 s), `contaminated` (other
    processes took more than a tenth of the host's CPU time, and counters of the machine count them
    too), `shared_gpu` (other processes computed on its GPU), `counter_reset` (a GPU's counter went
    back, and that energy is lost), `elsewhere` (trials ran on a Ray cluster, where energy and CPU
    time are not measured)"""
    tuning_training_seconds: float = _column(lambda run: run.split["training"])
    """seconds of the search that trials trained"""
    tuning_selection_seconds: float = _column(lambda run: run.split["selection"])
    """seconds of the search that trials selected subsets"""
    tuning_evaluation_seconds: float = _column(lambda run: run.split["evaluation"])
    """seconds of the search that trials were evaluated"""
    tuning_orchestration_seconds: float = _column(lambda run: run.split["orchestration"])
    """the rest of the search: starting, pausing and choosing trials, and idle workers"""
    test_accuracy: float = _column(lambda run: run.record.test.accuracy)
    """accuracy of the final model on the test set"""
    test_loss: float = _column(
        lambda run: math.inf if math.isnan(run.record.test.loss) else run.record.test.loss
    )
    """log loss of the final model on the test set, infinite if it is not a number"""
    test_balanced_accuracy: float | None = _column(lambda run: run.record.test.balanced_accuracy)
    """mean recall of the classes; empty in early records"""
    test_macro_f1: float | None = _column(lambda run: run.record.test.macro_f1)
    """mean F1 of the classes; empty in early records"""
    test_roc_auc: float | None = _column(lambda run: run.record.test.roc_auc)
    """area under the ROC curve; only in tables with runs that tune it"""
    test_mcc: float | None = _column(lambda run: run.record.test.mcc)
    """Matthews correlation coefficient; only in tables with runs that tune it"""
    kept_epoch: float | None = _column(
        lambda run: getattr((run.record.final or run.record.best).progress.best, "epoch", None)
    )
    """epoch of the weights of the final model; only in tables with runs that have `patience`"""
    metric: str = _column(lambda run: run.settings.protocol.metric)
    """score that compares trials"""
    best_score: float | None = _column(
        lambda run: run.score.score(run.settings.protocol.metric) if run.score else None
    )
    """validation score of the best trial by `metric`; for the log loss, exp(-loss)"""
    best_validation_accuracy: float | None = _column(
        lambda run: run.score.accuracy if run.score else None
    )
    """validation accuracy of the best trial"""
    best_index: int = _column(lambda run: run.record.best.index)
    """number of the best trial, from 0"""
    best_epochs: int = _column(lambda run: run.record.best.progress.epochs)
    """epochs of the best trial; if it was stopped before `epochs`, FULL tests a model that could
    have trained longer (`full_best_epochs` in `ratios.csv`)"""
    best_configuration: str = _column(lambda run: " ".join(readable(run.record.best.configuration)))
    """the best configuration, with four digits"""
    best_configuration_json: str = _column(
        lambda run: json.dumps(run.record.best.configuration, sort_keys=True)
    )
    """the best configuration, with exact values"""
    configurations: int = _column(lambda run: len(run.trainings))
    """trials of the search"""
    failed_trials: int = _column(
        lambda run: sum(training.failure is not None for training in run.trainings)
    )
    """trials that diverged"""
    final_failure: str | None = _column(
        lambda run: run.record.final.progress.failure if run.record.final else None
    )
    """why the final training diverged"""
    model: str = _column(
        lambda run: str(
            getattr(run.settings.protocol.model, "factory", run.settings.protocol.model)
        )
    )
    """architecture, or factory of the user's model"""
    epochs: int = _column(lambda run: run.settings.protocol.epochs)
    """maximum epochs of a trial, and epochs of the final training"""
    train_rows: int = _column(lambda run: run.rows)
    """rows of the training set"""
    test_rows: int = _column(lambda run: run.record.data.counts["test"])
    """rows of the test set"""
    full_epoch_equivalents: float = _column(
        lambda run: sum(training.samples for training in run.trainings) / run.rows
    )
    """samples that all trials trained, in passes over the training set, warm start included"""
    effective_fraction: float | None = _column(lambda run: _effective_fraction(run))
    """mean share of the training set in all epochs on subsets; adaptive selectors stay below
    `fraction`"""
    gradient_selections: int = _column(
        lambda run: sum(training.gradient_selections for training in run.trainings)
    )
    """selections by gradients: each takes a forward pass over the training set"""
    final_epochs: int = _column(lambda run: _final_epochs(run.record))
    """epochs of the final training, of all finalists together"""
    final_slots: float | None = _column(lambda run: _final_slots(run.record))
    """finalists that trained at once; only in tables with runs where these were several"""
    concurrent_trials: int = _column(lambda run: run.settings.compute.concurrent_trials)
    """trials at once"""
    threads_per_trial: int = _column(lambda run: run.settings.compute.threads_per_trial)
    """CPU threads of each trial"""
    device: str = _column(lambda run: run.record.provenance["device"])
    """`cpu`, or the name of the GPU"""
    machine: str = _column(lambda run: _machine(run))
    """host, processor, number of cores and GPUs, the same for runs that are compared; without the
    host if `comparison.hosts` is `alike`"""
    set_aside: str = _column(
        lambda run: RESUMED if run.record.resumed and not run.comparison.resumed else ""
    )
    """why the run is excluded from comparisons: it was resumed or extends a search, and
    `comparison.resumed` is false, or another run of its panel has a newer measurement version"""
    software: str = _column(
        lambda run: "torch {torch} ray {ray}".format_map(run.record.provenance["packages"])
    )
    """versions of torch and ray"""
    training_version: int = _column(lambda run: run.record.version("training"))
    """measurement version of training, models and search"""
    metering_version: int = _column(lambda run: run.record.version("metering"))
    """measurement version of the meter"""
    selector_version: int = _column(lambda run: run.record.version(run.record.job.run.selector))
    """measurement version of the selector"""
    data_sha256: str = _column(lambda run: run.record.data.sha256)
    """SHA-256 of the prepared data set"""
    own_model_sha256: str | None = _column(
        lambda run: run.record.provenance.get("own_model_sha256")
    )
    """SHA-256 of the file of the user's model"""
    protocol_hash: str = _column(lambda run: protocol_hash(run.record))
    """key in `protocols.json` of the settings that a run shares with its FULL"""
    started_at: float = _column(lambda run: run.record.phases[0].started_at)
    """start of the first measured window, Unix time"""
    record: str = _column(lambda run: str(run.path))
    """path of the record"""

    def __init__(self, values: Mapping[Any, Any]) -> None:
        self.__dict__.update((name, values.get(name)) for name in TYPES)


TYPES = get_type_hints(RunRow)
"""The columns of the table of runs, and the types of their values."""


def row(record: Record, path: Path, comparison: Comparison) -> dict[str, Any]:
    """Return the row of one record in the table of runs."""
    source = Source(
        record,
        path,
        comparison,
        record.job.settings,
        [trial.progress for trial in record.tuning.trials],
        next(reversed(record.best.progress.evaluations), None),
        tuning_split(record),
        record.data.counts["train"],
    )
    return {name: vars(RunRow)[name](source) for name in TYPES}


LATER = (
    *(f"test_{name}" for name, metric in METRICS.items() if not metric.always),
    "kept_epoch",
    "final_slots",
)
"""Columns that the table lacks if no run has a value, so that older tables stay the same."""


def table(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the table of runs; columns of numbers are floats even if all values are missing."""
    numbers = {name: "float64" for name, kind in TYPES.items() if kind in (float, float | None)}
    made = pd.DataFrame(list(rows), columns=list(TYPES)).astype(numbers)
    return made.drop(columns=[name for name in LATER if made[name].isna().all()])


def tuning_split(record: Record) -> dict[str, float]:
    """Return the seconds of the search by activity; they add up to its wall time.

    Seconds inside trials are divided by the number of trials at once; orchestration is the rest.
    """
    slots = record.job.settings.compute.concurrent_trials
    trials = [trial.progress.seconds for trial in record.tuning.trials]
    split = {
        activity: sum(getattr(seconds, activity) for seconds in trials) / slots
        for activity in ("training", "selection", "evaluation")
    }
    rest = _wall_seconds(record.tuning.measurement)
    for seconds in split.values():
        rest -= seconds
    return {**split, "orchestration": rest}


def _wall_seconds(phase: Measurement | None) -> float:
    """Return the wall time of a phase; 0 without the phase."""
    return phase.wall_seconds if phase else 0.0


def _other_cpu_share(record: Record) -> float | None:
    """Return the CPU share of other processes, in the worse phase; None if unknown."""
    cores = record.provenance["cpu_count"]
    shares = [
        foreign_share(phase.wall_seconds, own, busy, cores)
        for phase in record.phases
        if (own := phase.cpu_seconds) is not None
        and (busy := phase.host_busy_cpu_seconds) is not None
    ]
    return max(shares, default=None)


def _effective_fraction(run: Source) -> float | None:
    epochs = sum(training.subset_epochs for training in run.trainings)
    selected = sum(training.selected_samples for training in run.trainings)
    return selected / epochs / run.rows if epochs else None


def _final_epochs(record: Record) -> int:
    if not record.final:
        return 0
    return record.final.progress.epochs + sum(lost.progress.epochs for lost in record.final.lost)


def _final_slots(record: Record) -> float | None:
    """Return how many finalists trained at once; None for one."""
    return record.final.slots if record.final and record.final.slots > 1 else None


def _machine(run: Source) -> str:
    """Return the hosts and the kind of machine; without the hosts if hosts of a kind are alike.

    Hosts with the same name may be of different kinds, e.g. virtual machines.
    """
    made, cluster = run.record.provenance, run.record.tuning.cluster
    parts = [f"{made['cpu_count']} x {made['cpu']}", *made["gpus"]]
    kind = ", ".join([*parts, f"trials on {cluster['address']}"] if cluster else parts)
    hosts = " + ".join(dict.fromkeys(segment.host for segment in run.record.segments))
    return kind if run.comparison.hosts == "alike" else f"{hosts}: {kind}"


def protocol_hash(record: Record) -> str:
    """Return a short hash of the settings that a run shares with its FULL."""
    shared = shared_settings(record.job.settings)
    del shared["metering"]
    return hashlib.sha256(json.dumps(shared, sort_keys=True).encode()).hexdigest()[:12]
