"""One tuning job, as `automata tune` runs it, with a stopwatch between its parts.

Arguments: file for the laps, job in JSON, data, work folder, record.
"""

# ruff: noqa: E402  (the benchmark measures imports)
from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

laps: list[tuple[str, float]] = []
"""The parts that have ended, each with its Unix time."""


def lap(name: str) -> None:
    """End the part `name`."""
    laps.append((name, time.time()))


lap("interpreter")

import torch  # noqa: F401

lap("import torch")

import ray.tune  # noqa: F401

lap("import ray")

import automata.tuning.job as tuning_job
from automata.config.job import Job
from automata.records.progress import Progress
from automata.records.record import write_record
from automata.search.finalists import FinalSearch
from automata.search.schedulers import Verdict
from automata.tuning import phases, ray_search
from automata.tuning.live import LivePhase
from automata.tuning.ray_session import local_ray

lap("import automata, ray.tune")


@contextmanager
def timed_ray(workers: int, gpus: int) -> Iterator[None]:
    lap("data, checks, lock")
    with local_ray(workers, gpus):
        lap("start Ray")
        yield
        lap("end of the trials")
    lap("stop Ray")


class TimedPhase(LivePhase):
    """A phase that stops the watch where its window opens and closes."""

    opened = False

    def open(self) -> None:
        if self.opened:  # Ray calls it at the start of each trial
            return
        self.opened = True
        final = isinstance(self.search, FinalSearch)
        if not final:
            lap("first worker")
        super().open()
        lap("set-up of the final training" if final else "open meter")

    def report(self, index: int, progress: Progress, saved: bool = False) -> Verdict:
        verdict = super().report(index, progress, saved)
        if self.search.finished:
            lap("final training" if isinstance(self.search, FinalSearch) else "window")
        return verdict


def main() -> None:
    vars(ray_search).update(local_ray=timed_ray)
    vars(phases).update(LivePhase=TimedPhase)
    file, job, data, work, output = sys.argv[1:]
    record, _ = tuning_job.run(Job.model_validate_json(job), Path(data), Path(work))
    lap("test")
    write_record(record, Path(output))
    lap("record")
    Path(file).write_text(json.dumps(laps))


if __name__ == "__main__":
    main()
