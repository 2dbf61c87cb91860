"""From a record to its row in the table of runs, and those of its trials."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypedDict

from automata.config.job import shared_settings
from automata.config.sections import Comparison
from automata.metering.measurement import Measurement, complete_sum, foreign_share
from automata.records import Record, Trial
from automata.training.progress import Evaluation, Progress

RESUMED = "was interrupted and went on (comparison.resumed)"
"""Why the times of a run are set aside."""


class RunRow(TypedDict):
    """A row of the table of runs: the fields are its columns, in their order, with their meaning.

    A quantity that was not measured is None.
    """

    dataset: Annotated[str, "data set"]
    search: Annotated[str, "what proposes configurations"]
    scheduler: Annotated[str, "what stops trials"]
    selector: Annotated[str, "what selects subsets, or the control that the run is"]
    fraction: Annotated[float, "size of the subsets, as a share of the training set"]
    seed: Annotated[int, "seed of the run"]
    tuning_seconds: Annotated[
        float,
        "wall time of the search, from the first trial's start to the last one's end; the four "
        "`tuning_*_seconds` say on what",
    ]
    final_seconds: Annotated[
        float,
        "wall time of the final training on all data; FULL has none, its best trial's weights are "
        "tested",
    ]
    total_seconds: Annotated[float, "tuning plus final training"]
    setup_seconds: Annotated[
        float,
        "Ray, imports, data: in no other time, but with several trials at once the start of the "
        "second and later worker is in the tuning",
    ]
    cpu_seconds: Annotated[float | None, "CPU time of the job's processes in both phases"]
    energy_joules: Annotated[float | None, "energy of both phases"]
    energy_method: Annotated[
        str | None,
        "whether it was measured by counters, polled or estimated from CPU time; none where the "
        "phases differ",
    ]
    energy_source: Annotated[str | None, "what gave it"]
    exclusive: Annotated[bool, "whether other measured jobs of the host were kept out"]
    other_cpu_share: Annotated[
        float | None,
        "the share of the host's CPU time that went to anything else in the worse of the run's "
        "phases; above 0.1 the run is worth repeating, and the figure says so",
    ]
    flags: Annotated[
        str,
        "what to know before trusting the energy: `short_window` (a phase under 10 s), "
        "`contaminated` (others took more than a tenth of the host's CPU time, which counters of "
        "the machine count too), `shared_gpu` (others computed on its GPU), `counter_reset` (a "
        "GPU's counter went back: what it had counted is lost), `elsewhere` (trials ran on a Ray "
        "cluster: energy and CPU time were not measured)",
    ]
    tuning_training_seconds: Annotated[float, "seconds of the search that trials trained"]
    tuning_selection_seconds: Annotated[float, "seconds of the search that trials selected"]
    tuning_evaluation_seconds: Annotated[float, "seconds of the search that trials were evaluated"]
    tuning_orchestration_seconds: Annotated[
        float,
        "the rest of the search: starting, stopping, pausing and choosing trials, and slots that "
        "stood empty",
    ]
    test_accuracy: Annotated[float, "accuracy of the final model on the test set"]
    test_loss: Annotated[float, "loss of the final model on the test set"]
    test_balanced_accuracy: Annotated[
        float | None, "mean recall of the classes; missing in earlier records, as is the next"
    ]
    test_macro_f1: Annotated[float | None, "mean F1 of the classes"]
    metric: Annotated[str, "what trials are compared by"]
    best_score: Annotated[
        float | None, "score of the best trial by `metric`; of the log loss exp(-loss)"
    ]
    best_validation_accuracy: Annotated[float | None, "validation accuracy of the best trial"]
    best_index: Annotated[int, "number of the best trial, from 0"]
    best_epochs: Annotated[
        int,
        "epochs of the best trial. The best score wins, also that of a trial that was stopped "
        "before `epochs`: FULL is then tested on a model that could have trained longer "
        "(`full_best_epochs` in `ratios.csv`, a note in the figure)",
    ]
    best_configuration: Annotated[str, "the best configuration, in four digits"]
    best_configuration_json: Annotated[str, "the best configuration, with exact values"]
    configurations: Annotated[int, "trials of the search"]
    failed_trials: Annotated[int, "trials that diverged"]
    final_failure: Annotated[str | None, "why the final training diverged"]
    model: Annotated[str, "architecture, or the factory of the user's own"]
    epochs: Annotated[int, "most epochs of a trial, and those of the final training"]
    train_rows: Annotated[int, "rows of the training set"]
    test_rows: Annotated[int, "rows of the test set"]
    trained_epochs: Annotated[int, "epochs of all trials"]
    trained_steps: Annotated[int, "optimizer steps of all trials"]
    full_epoch_equivalents: Annotated[
        float, "samples of all trials in passes over the training set, warm start included"
    ]
    subset_samples: Annotated[int, "the largest latest subset of a trial"]
    effective_fraction: Annotated[
        float | None,
        "rows of a subset as a share of the training set, on average over all epochs trained on "
        "subsets; below `fraction` where a selector adapts",
    ]
    gradient_selections: Annotated[int, "selections that read gradients: each one forward pass"]
    random_fill: Annotated[int, "mini-batches that a solver had no use for and chance filled in"]
    final_epochs: Annotated[int, "epochs of the final training"]
    final_steps: Annotated[int, "optimizer steps of the final training"]
    concurrent_trials: Annotated[int, "trials at a time"]
    threads_per_trial: Annotated[int, "CPU threads of each"]
    device: Annotated[str, "what trained: cpu, or the name of a GPU"]
    host: Annotated[
        str,
        "where the job ran, or several hosts where it was interrupted and went on elsewhere",
    ]
    machine: Annotated[
        str,
        "what must be the same of runs that are compared: the host with its processor, number of "
        "cores and GPUs, or with `comparison.hosts: alike` these without the host",
    ]
    resumed: Annotated[bool, "whether the run was interrupted and went on"]
    set_aside: Annotated[
        str,
        "why a run is compared with no other: it was resumed, and `comparison.resumed` is false; "
        "or its measurement version is older than that of others of its panel",
    ]
    segments: Annotated[
        int,
        "of how many measured windows the times are the sum: two for a search and a final training "
        "that nothing interrupted. A segment ends with the last work that was kept: what was lost "
        "and done again counts once",
    ]
    peak_memory_bytes: Annotated[
        int,
        "most memory of the job's processes at one look, every half second: what each has for "
        "itself, and the largest share",
    ]
    peak_disk_bytes: Annotated[int, "most that the run's part of `work/` took"]
    software: Annotated[str, "versions of torch and ray"]
    training_version: Annotated[int, "measurement version of training, models and search"]
    metering_version: Annotated[int, "measurement version of the meter"]
    selector_version: Annotated[int, "measurement version of the selector"]
    data_sha256: Annotated[str, "SHA-256 of the prepared data set"]
    own_model_sha256: Annotated[str | None, "SHA-256 of the file of the user's own model"]
    protocol_hash: Annotated[str, "name in `protocols.json` of the settings that FULL must share"]
    started_at: Annotated[float, "when the first measured window began, in seconds since 1970"]
    record: Annotated[str, "path of the record"]


def row(record: Record, path: Path, comparison: Comparison) -> RunRow:
    """Return the row of one record.

    Only runs of the same `machine` compare, and those that are not `set_aside`.
    """
    tuning, final = record.tuning.measurement, record.final
    phases = record.phases
    finals = [final.progress, *(lost.progress for lost in final.lost)] if final else []
    trainings = [trial.progress for trial in record.tuning.trials]
    settings = record.job.settings
    model = settings.protocol.model
    best = record.best
    run = record.job.run
    return {
        "dataset": run.dataset,
        "search": run.search,
        "scheduler": run.scheduler,
        "selector": run.selector,
        "fraction": run.fraction,
        "seed": run.seed,
        "tuning_seconds": tuning.wall_seconds if tuning else 0.0,
        "final_seconds": final.measurement.wall_seconds if final else 0.0,
        "total_seconds": sum(phase.wall_seconds for phase in phases),
        "setup_seconds": record.tuning.setup_seconds,
        "cpu_seconds": complete_sum([phase.cpu_seconds for phase in phases]),
        "energy_joules": energy_joules(phases),
        "energy_method": _same([phase.energy_method for phase in phases]),
        "energy_source": _same([phase.energy_source for phase in phases]),
        "exclusive": all(phase.exclusive for phase in phases),
        "other_cpu_share": other_cpu_share(phases, record.provenance["cpu_count"]),
        "flags": " ".join(flags(record)),
        **tuning_split(record),
        "test_accuracy": record.test.accuracy,
        "test_loss": record.test.loss,
        "test_balanced_accuracy": record.test.balanced_accuracy,
        "test_macro_f1": record.test.macro_f1,
        "metric": settings.protocol.metric,
        "best_score": best.score if best.progress.evaluations else None,
        "best_validation_accuracy": best.progress.evaluations[-1].accuracy
        if best.progress.evaluations
        else None,
        "best_index": best.index,
        "best_epochs": best.progress.epochs,
        "best_configuration": compact(best.configuration),
        "best_configuration_json": json.dumps(best.configuration, sort_keys=True),
        "configurations": len(trainings),
        "failed_trials": sum(training.failure is not None for training in trainings),
        "final_failure": final.progress.failure if final else None,
        "model": model if isinstance(model, str) else model.factory,
        "epochs": settings.protocol.epochs,
        "train_rows": record.data.counts["train"],
        "test_rows": record.data.counts["test"],
        **_work(trainings, record.data.counts["train"]),
        "final_epochs": sum(training.epochs for training in finals),
        "final_steps": sum(training.steps for training in finals),
        "concurrent_trials": settings.compute.concurrent_trials,
        "threads_per_trial": settings.compute.threads_per_trial,
        "device": record.provenance["device"],
        "host": _host(record),
        "machine": _machine(record, comparison),
        "resumed": record.resumed,
        "set_aside": "" if comparison.resumed or not record.resumed else RESUMED,
        "segments": len(record.segments),
        "peak_memory_bytes": max((phase.peak_memory_bytes or 0 for phase in phases), default=0),
        "peak_disk_bytes": record.peak_disk_bytes,
        "software": " ".join(
            f"{name} {record.provenance['packages'][name]}" for name in ("torch", "ray")
        ),
        "training_version": record.version("training"),
        "metering_version": record.version("metering"),
        "selector_version": record.version(run.selector),
        "data_sha256": record.data.sha256,
        "own_model_sha256": record.provenance.get("own_model_sha256"),
        "protocol_hash": protocol_hash(record),
        "started_at": phases[0].started_at,
        "record": str(path),
    }


def flags(record: Record) -> list[str]:
    """Return what is to be known before the energy or time of any phase is trusted, sorted."""
    return sorted({flag for phase in record.phases for flag in phase.flags})


def _host(record: Record) -> str:
    """Return the host, or several of a run that went on elsewhere: these are like no single one."""
    return " + ".join(dict.fromkeys(segment.host for segment in record.segments))


def _machine(record: Record, comparison: Comparison) -> str:
    """Return what must be the same of runs that compare: the kind of machine, and its name.

    The name alone would not do: virtual machines of one name may be of different kinds. Where
    hosts of one kind are alike, it is the kind.
    """
    kind = _kind(record)
    return kind if comparison.hosts == "alike" else f"{_host(record)}: {kind}"


def _kind(record: Record) -> str:
    """Return what tells kinds of machines apart."""
    here, cluster = record.provenance, record.tuning.cluster
    elsewhere = [f"trials on {cluster['address']}"] if cluster else []
    return ", ".join([f"{here['cpu_count']} x {here['cpu']}", *here["gpus"], *elsewhere])


class TuningSplit(TypedDict):
    """Where the seconds of a search went; the four parts sum to its wall seconds."""

    tuning_training_seconds: float
    tuning_selection_seconds: float
    tuning_evaluation_seconds: float
    tuning_orchestration_seconds: float


def tuning_split(record: Record) -> TuningSplit:
    """Return where the seconds of the search went.

    Work inside trials counts for its share of the trials at once; orchestration is the rest:
    starting, stopping, pausing and choosing trials, and slots that stood empty.
    """
    slots = record.job.settings.compute.concurrent_trials
    spent = [trial.progress.seconds for trial in record.tuning.trials]
    training = sum(seconds.training for seconds in spent) / slots
    selection = sum(seconds.selection for seconds in spent) / slots
    evaluation = sum(seconds.evaluation for seconds in spent) / slots
    window = record.tuning.measurement
    wall = window.wall_seconds if window else 0.0
    return {
        "tuning_training_seconds": training,
        "tuning_selection_seconds": selection,
        "tuning_evaluation_seconds": evaluation,
        "tuning_orchestration_seconds": wall - training - selection - evaluation,
    }


def other_cpu_share(phases: list[Measurement], cores: int) -> float | None:
    """Return the share of the host's CPU time that went to anything but the job.

    That of the worst phase; None when nothing was measured in any.
    """
    return max(
        (
            foreign_share(phase.wall_seconds, own, busy, cores)
            for phase in phases
            if (own := phase.cpu_seconds) is not None
            and (busy := phase.host_busy_cpu_seconds) is not None
        ),
        default=None,
    )


def protocol_hash(record: Record) -> str:
    """Return a short hash of the settings that a run and its FULL must share."""
    shared = shared_settings(record.job.settings)
    del shared["metering"]
    return hashlib.sha256(json.dumps(shared, sort_keys=True).encode()).hexdigest()[:12]


def protocol(record: Record) -> dict[str, Any]:
    """Return the settings that runs with subsets have in common, and what was read of own data."""
    settings = record.job.settings.model_dump(mode="json", exclude={"selector", "metering"})
    return settings | ({"read": record.data.read} if record.data.read else {})


def energy_joules(phases: list[Measurement]) -> float | None:
    """Return the energy of all phases, None when one was not measured or methods differ."""
    if _same([phase.energy_method for phase in phases]) is None:
        return None
    return complete_sum([phase.energy_joules for phase in phases])


class _Work(TypedDict):
    """What the trials of a search trained in all."""

    trained_epochs: int
    trained_steps: int
    full_epoch_equivalents: float
    subset_samples: int
    effective_fraction: float | None
    gradient_selections: int
    random_fill: int


def _work(trainings: list[Progress], rows: int) -> _Work:
    """Return what the trials of a search trained in all."""
    subset_epochs = sum(training.subset_epochs for training in trainings)
    selected = sum(training.selected_samples for training in trainings)
    return {
        "trained_epochs": sum(training.epochs for training in trainings),
        "trained_steps": sum(training.steps for training in trainings),
        "full_epoch_equivalents": sum(training.samples for training in trainings) / rows,
        "subset_samples": max(training.subset_samples for training in trainings),
        "effective_fraction": selected / subset_epochs / rows if subset_epochs else None,
        "gradient_selections": sum(training.gradient_selections for training in trainings),
        "random_fill": sum(training.random_fill for training in trainings),
    }


def compact(configuration: dict[str, Any]) -> str:
    """Return a configuration as people read it, in one line."""
    return " ".join(readable(configuration))


def readable(configuration: dict[str, Any]) -> list[str]:
    """Return each hyper-parameter as people read it: key=value, numbers with four digits."""
    return [f"{key}={_short(configuration[key])}" for key in sorted(configuration)]


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _same(values: list[str | None]) -> str | None:
    """Return the value that all have in common, else None."""
    return values[0] if len(set(values)) == 1 else None


class EvaluationRow(TypedDict):
    """A row of the table of trials: the fields are its columns, in their order."""

    dataset: str
    search: str
    scheduler: str
    selector: str
    fraction: float
    seed: int
    index: int
    configuration: str
    status: str
    epoch: int
    rung: bool
    accuracy: float
    loss: float
    elapsed_seconds: float
    elapsed_joules: float | None
    record: str


TRIAL_COLUMNS = list(EvaluationRow.__annotations__)

TRIAL_TYPES = {"elapsed_joules": "float64"}
"""Of columns in which a value may be missing: one that nobody has would have no type."""


def evaluations(record: Record, path: Path) -> list[EvaluationRow]:
    """Return a row per evaluation of a trial, in the order of time; none without a search.

    `epoch` is when the trial was evaluated, `rung` says whether the scheduler saw it;
    `elapsed_seconds` count from the start of the search, without interruptions.
    `elapsed_joules` spread the energy of the search evenly over its time, as counters are read
    seconds apart: None where it is not known. Trials that diverged keep the evaluations made
    before.
    """
    window = record.tuning.measurement
    if window is None:
        return []
    energy = window.energy_joules
    watts = None if energy is None else energy / window.wall_seconds
    run = record.job.run
    rows: list[EvaluationRow] = []
    for trial, rung, evaluation in _evaluations(record):
        elapsed = record.tuning.elapsed(evaluation.finished_at)
        rows.append(
            {
                "dataset": run.dataset,
                "search": run.search,
                "scheduler": run.scheduler,
                "selector": run.selector,
                "fraction": run.fraction,
                "seed": run.seed,
                "index": trial.index,
                "configuration": json.dumps(trial.configuration, sort_keys=True),
                "status": trial.status,
                "epoch": evaluation.epoch,
                "rung": rung,
                "accuracy": evaluation.accuracy,
                "loss": evaluation.loss,
                "elapsed_seconds": elapsed,
                "elapsed_joules": None if watts is None else watts * elapsed,
                "record": str(path),
            }
        )
    return sorted(rows, key=lambda row: row["elapsed_seconds"])


def _evaluations(record: Record) -> Iterator[tuple[Trial, bool, Evaluation]]:
    """Yield the evaluations with their trials, and whether each was at a rung."""
    for trial in record.tuning.trials:
        yield from ((trial, True, evaluation) for evaluation in trial.progress.evaluations)
        yield from ((trial, False, evaluation) for evaluation in trial.progress.curve)
