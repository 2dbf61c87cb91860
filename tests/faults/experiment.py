"""A miniature experiment in a folder of its own, and what is left of it when it is broken."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import yaml

ROOT = Path(__file__).parents[2]

CONFIG = {
    "experiment": "drill",
    "datasets": ["dna"],
    "searches": ["tpe"],
    "schedulers": ["hyperband", "asha"],
    "selectors": ["full", "gradmatch"],
    "fractions": [0.3],
    "seeds": [0],
    "protocol": {"tabular": {"configurations": 9, "epochs": 81, "reselect_every": 9}},
    "metering": {"exclusive": False},  # it must not wait for measured jobs of others
    "comparison": {"resumed": True},
}

OUTCOMES = (
    "runs",
    "ratios",
    "tradeoff",
    "best",
    "rank-agreement",
    "resampling",
    "untuned",
    "differences",
)
"""Tables; the others (fronts, claims, energy, time) are of speedups, or of nothing else."""

TIMES = (
    "seconds|joules|energy|kwh|co2|share|flags|started|speedup|efficiency|on_front|cpu|peak|"
    "resumed|segments"
)
"""Columns that depend on when and how fast something ran."""


@dataclass
class Experiment:
    """The experiment in `folder`, run by calls of Snakemake."""

    folder: Path

    def prepare(self) -> None:
        """Write the configuration."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "drill.yaml").write_text(yaml.safe_dump(CONFIG))

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        """Start `snakemake` as a shell would: in a process group of its own."""
        command = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "workflow/Snakefile")]
        command += ["--configfile", "drill.yaml", "--cores", "1", *options]
        with (self.folder / "snakemake.log").open("ab") as log:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )

    def call(self, *options: str) -> int:
        """Run `snakemake` to its end and return its exit status."""
        return self.start(*options).wait(600)

    def unlock(self) -> None:
        """Do what the README says after Snakemake itself was killed."""
        assert self.call("--unlock") == 0

    def finished(self) -> bool:
        """Say whether there is nothing left to do."""
        return (self.folder / "results/drill/tables/claims.csv").exists()

    @property
    def work(self) -> Path:
        """The folder of unfinished work."""
        return self.folder / "results/work"

    def reported(self) -> Iterator[tuple[str, int, float]]:
        """Yield run, trial and time of all results of trials that are kept in the work folder."""
        for journal in self.work.rglob("journal.jsonl"):
            run = str(journal.parent.relative_to(self.work))
            for line in journal.read_bytes().splitlines(keepends=True):
                try:
                    entry = json.loads(line.partition(b" ")[2])
                except ValueError:  # torn
                    break
                if line.endswith(b"\n") and entry["kind"] == "reported":
                    last = entry["progress"]["evaluations"][-1]
                    yield run, entry["index"], last["finished_at"]

    def records(self) -> dict[str, dict[str, Any]]:
        """Return the records by run."""
        runs = self.folder / "results/runs"
        return {
            str(path.parent.relative_to(runs)): json.loads(path.read_text())
            for path in runs.rglob("record.json")
        }

    def longest_job(self) -> float:
        """Return the seconds that the longest tuning job took, by Snakemake's clock."""
        files = (self.folder / "benchmarks/tune").rglob("*.tsv")
        return max(float(pd.read_csv(file, sep="\t")["s"].iloc[0]) for file in files)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the tables of outcomes, less what depends on time."""
        folder = self.folder / "results/drill/tables"
        tables = {name: pd.read_csv(folder / f"{name}.csv") for name in OUTCOMES}
        tables["trials.parquet"] = pd.read_parquet(folder / "trials.parquet").sort_values(
            ["search", "scheduler", "selector", "seed", "index", "epoch"], ignore_index=True
        )
        return {name: _without_times(table) for name, table in tables.items()}

    def leftovers(self) -> list[str]:
        """Return what should not be there any more."""
        hidden = [path for path in self.folder.rglob("*.unfinished*") if path.is_file()]
        work = [path for path in self.work.rglob("*") if path.is_file()]
        locks = list((self.folder / ".snakemake/locks").glob("*"))
        incomplete = list((self.folder / ".snakemake/incomplete").glob("*"))
        return [str(path) for path in (*hidden, *work, *locks, *incomplete)]


def _without_times(table: pd.DataFrame) -> pd.DataFrame:
    return table.loc[:, ~table.columns.str.contains(TIMES)]


def jobs(within: psutil.Process) -> list[psutil.Process]:
    """Return the tuning jobs below a process."""
    return [p for p in below(within) if "automata tune" in words(p) and "bash" not in words(p)]


def below(process: psutil.Process) -> list[psutil.Process]:
    """Return all descendants."""
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def words(process: psutil.Process) -> str:
    """Return the command of a process, nothing if it has ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def kill_all(processes: list[psutil.Process]) -> None:
    """Kill processes at once."""
    for process in processes:
        try:
            process.send_signal(signal.SIGKILL)
        except psutil.Error:
            continue


def wait_until_gone(processes: list[psutil.Process], seconds: float) -> list[str]:
    """Return the commands of those that live longer."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and any(p.is_running() and words(p) for p in processes):
        time.sleep(0.2)
    return [words(p) for p in processes if p.is_running() and words(p)]
