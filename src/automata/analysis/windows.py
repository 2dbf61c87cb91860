"""Times and energy of a run, from the windows in which they were measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from automata.metering.measurement import Measurement, complete_sum, foreign_share
from automata.records import Record

T = TypeVar("T")


def tuning_split(record: Record) -> dict[str, float]:
    """Return the seconds of the search by activity; they add up to its wall time.

    Seconds of a trial are divided by the number of trials at once. Orchestration is the rest.
    """
    slots = record.job.settings.compute.concurrent_trials
    trials = [trial.progress.seconds for trial in record.tuning.trials]
    split = {
        activity: sum(getattr(seconds, activity) for seconds in trials) / slots
        for activity in ("training", "selection", "evaluation")
    }
    rest = wall_seconds(record.tuning.measurement)
    for seconds in split.values():
        rest -= seconds
    return {**split, "orchestration": rest}


def wall_seconds(phase: Measurement | None) -> float:
    """Return the wall time of a phase; 0 if the run has no such phase."""
    return phase.wall_seconds if phase else 0.0


def other_cpu_share(record: Record) -> float | None:
    """Return the share of CPU time of other processes, in the worse phase; None if unknown."""
    cores = record.provenance["cpu_count"]
    shares = [
        foreign_share(phase.wall_seconds, own, busy, cores)
        for phase in record.phases
        if (own := phase.cpu_seconds) is not None
        and (busy := phase.host_busy_cpu_seconds) is not None
    ]
    return max(shares, default=None)


def joules(phases: list[Measurement]) -> float | None:
    """Return the energy of all phases; None if one was not measured or methods differ."""
    if common([phase.energy_method for phase in phases]) is None:
        return None
    return complete_sum([phase.energy_joules for phase in phases])


def common(values: Sequence[T]) -> T | None:
    """Return the value that all have in common; None if they differ."""
    return values[0] if len(set(values)) == 1 else None
