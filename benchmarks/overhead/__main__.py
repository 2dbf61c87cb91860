"""`python -m benchmarks.overhead`: time the parts of tuning jobs, and write the table."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from automata.analysis.runs import tuning_split
from automata.config.files import read_experiments
from automata.config.job import Job, Run
from automata.records import read_record
from automata.runs import job_of
from benchmarks.report import write_table

ROOT = Path(__file__).parents[2]
PARTS = ("training", "selection", "evaluation", "orchestration")
PACKAGES = ("torch", "ray", "hyperopt", "numpy", "scipy")

Seconds = dict[str, float]


def main() -> None:
    options = _options()
    rows = []
    for scheduler in options.scheduler:
        job = _job(scheduler, options)
        rows += _rows(scheduler, [_parts(job, options.data) for _ in range(options.repeats)])
    threads = job.settings.compute.threads_per_trial
    title = f"One job: {options.dataset}, gradmatch {options.fraction:g}, seconds"
    write_table(rows, options.output, "overhead", title=title, threads=threads, packages=PACKAGES)
    print((options.output / "overhead.md").read_text())


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overhead", description=__doc__)
    parser.add_argument("--dataset", default="satimage")
    parser.add_argument("--data", type=Path, default=ROOT / "results/data/satimage.safetensors")
    parser.add_argument("--scheduler", nargs="+", default=["hyperband", "asha"])
    parser.add_argument("--fraction", type=float, default=0.05)
    parser.add_argument("--repeats", type=int, default=3, help="medians are of so many jobs")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    if not options.data.exists():
        parser.error(f"{options.data}: make it with `snakemake --cores 1 {options.data}`")
    return options


def _job(scheduler: str, options: argparse.Namespace) -> Job:
    """Return the job of the default configuration."""
    (experiment,) = read_experiments([ROOT / "config/config.yaml"])
    chosen = {key: getattr(options, key) for key in ("dataset", "fraction")}
    run = Run(**chosen, search="tpe", scheduler=scheduler, selector="gradmatch", seed=0)
    return job_of(experiment, run, {})


def _parts(job: Job, data: Path) -> Seconds:
    """Run `job` in a new process; return its seconds by part."""
    with tempfile.TemporaryDirectory(prefix="automata-overhead-") as name:
        folder = Path(name)
        laps, path = folder / "laps.json", folder / "record.json"
        arguments = [str(laps), job.model_dump_json(), str(data), str(folder / "work"), str(path)]
        command = [sys.executable, "-m", "benchmarks.overhead.job", str(time.time()), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        ended = time.time()
        written = json.loads(laps.read_text())
        record = read_record(path)
    parts: Seconds = {**written["seconds"], "exit": ended - written["ended"]}
    # Reading the clock around Ray's callbacks is no part of the window.
    parts["window"] = record.tuning.measurement.wall_seconds
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
