"""`python -m benchmarks.overhead`: time jobs and plain loops in turns, and write the table."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import median

from automata.analysis.runs import tuning_split
from automata.config.files import read_experiments
from automata.config.job import Job, Run
from automata.records import read_record
from automata.runs import job_of
from benchmarks.overhead.stopwatch import timed
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
        pairs = [_pair(job, options.data) for _ in range(options.repeats)]
        rows += _rows(
            scheduler, _medians([ray for ray, _ in pairs]), _medians([p for _, p in pairs])
        )
    threads = job.settings.compute.threads_per_trial
    title = f"One job: {options.dataset}, {options.selector} {options.fraction:g}, seconds"
    write_table(rows, options.output, "overhead", title=title, threads=threads, packages=PACKAGES)
    print((options.output / "overhead.md").read_text())


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overhead", description=__doc__)
    parser.add_argument("--dataset", default="satimage")
    parser.add_argument("--data", type=Path, default=ROOT / "results/data/satimage.safetensors")
    parser.add_argument("--scheduler", nargs="+", default=["hyperband", "asha"])
    parser.add_argument("--search", default="tpe")
    parser.add_argument("--selector", default="gradmatch")
    parser.add_argument("--fraction", type=float, default=0.05)
    parser.add_argument("--repeats", type=int, default=3, help="medians are of so many jobs")
    parser.add_argument("--shared", action="store_true", help="do not wait for other jobs")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    if not options.data.exists():
        parser.error(f"{options.data}: make it with `snakemake --cores 1 {options.data}`")
    return options


def _job(scheduler: str, options: argparse.Namespace) -> Job:
    """Return the job of the default configuration."""
    (experiment,) = read_experiments([ROOT / "config/config.yaml"])
    metering = experiment.metering.model_copy(update={"exclusive": not options.shared})
    chosen = {key: getattr(options, key) for key in ("dataset", "search", "selector", "fraction")}
    run = Run(**chosen, scheduler=scheduler, seed=0)
    return job_of(experiment.model_copy(update={"metering": metering}), run, {})


def _pair(job: Job, data: Path) -> tuple[Seconds, Seconds]:
    """Run `job`, then its trials in a plain loop; return the seconds of both by part."""
    with tempfile.TemporaryDirectory(prefix="automata-overhead-") as name:
        folder = Path(name)
        laps, path = folder / "laps.json", folder / "record.json"
        arguments = (job.model_dump_json(), str(data), str(folder / "work"), str(path))
        ray = timed("benchmarks.overhead.job", laps, *arguments)
        plain = timed("benchmarks.overhead.plain", laps, str(path), str(data))
        record = read_record(path)
    ray |= tuning_split(record)
    # Reading the clock around Ray's callbacks is no part of the window.
    ray["window"] = record.tuning.measurement.wall_seconds
    ray["waiting for the lock"] = record.lock_wait_seconds
    ray["data, checks, lock"] -= record.lock_wait_seconds
    return ray, plain


def _medians(runs: list[Seconds]) -> Seconds:
    return {part: median(run[part] for run in runs) for part in runs[0]}


def _rows(scheduler: str, ray: Seconds, plain: Seconds) -> list[dict[str, object]]:
    """Return a row per part, and one for all; the shares are of the job with Ray."""
    ray = {part: seconds for part, seconds in ray.items() if part != "waiting for the lock"}
    both = {
        **{part: (seconds, plain.get(part)) for part, seconds in ray.items()},
        "whole job": (
            sum(seconds for part, seconds in ray.items() if part not in PARTS),
            sum(plain.values()),
        ),
    }
    window, job = ray["window"], both["whole job"][0]
    return [
        {
            "scheduler": scheduler,
            "part": f"window: {part}" if part in PARTS else part,
            "ray": round(seconds, 3),
            "plain_loop": "" if loop is None else round(loop, 3),
            "ratio": "" if loop is None else round(seconds / loop, 2),
            "share_of_window": round(seconds / window, 3) if part in PARTS else "",
            "share_of_job": round(seconds / job, 3),
        }
        for part, (seconds, loop) in both.items()
    ]


if __name__ == "__main__":
    main()
