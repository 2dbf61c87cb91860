"""`python -m benchmarks.overhead`: time the parts of tuning jobs, and write the table."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import median

from automata.analysis.runs import tuning_split
from automata.config.files import read_experiments
from automata.config.job import Job, Run
from automata.experiment.grid import Grid
from automata.records.paths import job_of
from automata.records.record import read_record
from benchmarks.report import parser_of, write_table

ROOT = Path(__file__).parents[2]
PARTS = ("training", "selection", "evaluation", "orchestration")
PACKAGES = ("torch", "ray", "hyperopt", "numpy", "scipy")

Seconds = dict[str, float]


def main() -> None:
    """Run the jobs and write the table of their parts."""
    parser = parser_of("overhead", __doc__)
    parser.add_argument("--dataset", default="satimage")
    parser.add_argument("--scheduler", nargs="+", default=["hyperband", "asha"])
    parser.add_argument("--fraction", type=float, default=0.05)
    parser.add_argument("--repeats", type=int, default=3, help="medians are of so many jobs")
    options = parser.parse_args()
    chosen = {"datasets": [options.dataset]}
    grid = Grid(read_experiments([ROOT / "config/config.yaml"], chosen), [])
    data = ROOT / grid.prepared(options.dataset)
    if not data.exists():
        parser.error(f"{data}: make it with `snakemake --cores 1 {data.relative_to(ROOT)}`")
    rows = []
    for scheduler in options.scheduler:
        job = _job(scheduler, options.dataset, options.fraction)
        rows += _rows(scheduler, [_parts(job, data) for _ in range(options.repeats)])
    threads = job.settings.compute.threads_per_trial
    title = f"One job: {options.dataset}, gradmatch {options.fraction:g}, seconds"
    write_table(rows, options.results, "overhead", title, threads=threads, packages=PACKAGES)
    print((options.results / "overhead.md").read_text())


def _job(scheduler: str, dataset: str, fraction: float) -> Job:
    """Return the job of the default configuration."""
    (experiment,) = read_experiments([ROOT / "config/config.yaml"])
    method = {"search": "tpe", "scheduler": scheduler, "selector": "gradmatch"}
    return job_of(experiment, Run(dataset=dataset, fraction=fraction, seed=0, **method), {})


def _parts(job: Job, data: Path) -> Seconds:
    """Run `job` in a new process; return its seconds by part."""
    with tempfile.TemporaryDirectory(prefix="automata-overhead-") as name:
        folder = Path(name)
        file, path = folder / "laps.json", folder / "record.json"
        arguments = [file, job.model_dump_json(), data, folder / "work", path]
        command = [sys.executable, "-m", "benchmarks.overhead.job", *map(str, arguments)]
        started = time.time()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        laps = [("start", started), *json.loads(file.read_text()), ("exit", time.time())]
        record = read_record(path)
    parts: Seconds = {name: end - begin for (_, begin), (name, end) in pairwise(laps)}
    # Reading the clock around Ray's callbacks is no part of a window.
    parts["window"] = record.tuning.measurement.wall_seconds
    parts["final training"] = record.final.measurement.wall_seconds
    parts["data, checks, lock"] -= record.lock_wait_seconds
    return parts | tuning_split(record)


def _rows(scheduler: str, jobs: list[Seconds]) -> list[dict[str, object]]:
    """Return a row per part, and one for all, with medians."""
    parts = {part: median(job[part] for job in jobs) for part in jobs[0]}
    window = parts["window"]
    parts["whole job"] = whole = sum(parts[part] for part in parts if part not in PARTS)
    return [
        {
            "scheduler": scheduler,
            "part": f"window: {part}" if part in PARTS else part,
            "seconds": round(seconds, 3),
            "share_of_window": round(seconds / window, 3) if part in PARTS else "",
            "share_of_job": round(seconds / whole, 3),
        }
        for part, seconds in parts.items()
    ]


if __name__ == "__main__":
    main()
