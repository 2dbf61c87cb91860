"""One tuning job, as `automata tune` runs it, with a stopwatch between its parts.

Arguments: start of the process, file for the laps, job in JSON, data, work folder, record.
"""

# ruff: noqa: E402  (the benchmark measures imports)
from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Stopwatch:
    """Splits the time since the start of a process into named laps."""

    def __init__(self, started: float) -> None:
        self._last = started
        self.seconds: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """Add the time since the last lap to `name`."""
        now = time.time()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._last
        self._last = now

    def write(self, path: Path) -> None:
        """Write the laps and the end of the last one."""
        path.write_text(json.dumps({"seconds": self.seconds, "ended": self._last}))


watch = Stopwatch(float(sys.argv[1]))
watch.lap("interpreter")

import torch  # noqa: F401

watch.lap("import torch")

import ray.tune  # noqa: F401

watch.lap("import ray")

import automata.tuning.job as tuning_job
from automata.config.job import Job
from automata.records import write_record
from automata.training.progress import Progress
from automata.tuning import ray_search
from automata.tuning.live import LiveSearch
from automata.tuning.ray_session import local_ray
from automata.tuning.schedulers import Verdict

watch.lap("import automata, ray.tune")


@contextmanager
def timed_ray(workers: int, gpus: int) -> Iterator[None]:
    watch.lap("data, checks, lock")
    with local_ray(workers, gpus):
        watch.lap("start Ray")
        yield
        watch.lap("end of the trials")
    watch.lap("stop Ray")


class TimedSearch(LiveSearch):
    """A search that stops the watch at the first trial's start and at the last one's end."""

    first = True

    def open(self) -> None:
        if self.first:
            self.first = False
            watch.lap("first worker")
            super().open()
            watch.lap("open meter")

    def report(self, index: int, progress: Progress) -> Verdict:
        verdict = super().report(index, progress)
        if self.search.finished:
            watch.lap("window")
        return verdict


def main() -> None:
    vars(ray_search).update(local_ray=timed_ray)
    vars(tuning_job).update(LiveSearch=TimedSearch)
    job, data, work, output = sys.argv[3:]
    record, _ = tuning_job.run(Job.model_validate_json(job), Path(data), Path(work))
    watch.lap("final training, test")
    write_record(record, Path(output))
    watch.lap("record")
    watch.write(Path(sys.argv[2]))


if __name__ == "__main__":
    main()
