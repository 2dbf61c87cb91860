"""A miniature experiment in a folder of its own, and what is left of it when it is broken."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import yaml

ROOT = Path(__file__).parents[2]

SHARED = {
    "datasets": ["dna"],
    "searches": ["random", "tpe"],
    "fractions": [0.3],
    "seeds": [0],
    "search": {"tpe": {"startup_configurations": 4}},
    "metering": {"exclusive": False},  # it must not wait for measured jobs of others
    "comparison": {"resumed": True},
}

PROTOCOLS: dict[str, dict[str, Any]] = {
    "hyperband": {"schedulers": ["hyperband"], "selectors": ["full", "gradmatch"]},
    "asha": {"schedulers": ["asha"], "selectors": ["gradmatch"]},
    # ASHA's decisions would depend on the order in which results arrive.
    "pairs": {
        "schedulers": ["hyperband"],
        "selectors": ["full", "gradmatch"],
        "compute": {"concurrent_trials": 2},
    },
}
"""Name of the experiment -> what is its own: each has runs of its own in the folder of all."""

EPOCHS = {"hyperband": 54, "asha": 64, "pairs": 81}
"""With twelve configurations, trials take ten seconds in all."""

OF_TIME = {
    "provenance",
    "segments",
    "finished_at",
    "seconds",
    "resumed",
    "peak_disk_bytes",
    "lock_wait_seconds",
    "digest",
}
"""Keys of a record that depend on when, where and how fast it ran; all else is the outcome."""


@dataclass
class Experiment:
    """Experiments of some protocols in one `folder`, run by calls of Snakemake."""

    folder: Path
    protocols: tuple[str, ...]
    temporary: Path = field(init=False)
    """$TMPDIR of all calls: what lies there is ours."""

    def __post_init__(self) -> None:
        """Write the configurations."""
        # Ray puts sockets below it, whose paths have at most 107 characters.
        self.temporary = Path(tempfile.mkdtemp(prefix="f-", dir="/tmp"))
        (self.folder / "hiding").mkdir(parents=True, exist_ok=True)
        (self.folder / "hiding/ray.py").touch()
        for name in self.protocols:
            tabular = {"configurations": 12, "epochs": EPOCHS[name], "reselect_every": 9}
            protocol = {"experiment": name, "protocol": {"tabular": tabular}, **PROTOCOLS[name]}
            (self.folder / f"{name}.yaml").write_text(yaml.safe_dump(SHARED | protocol))

    def start(
        self, protocol: str, *options: str, shell: str = "", **environment: str
    ) -> subprocess.Popen[bytes]:
        """Start `snakemake` after commands of a `shell`, in a process group of its own."""
        command = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "workflow/Snakefile")]
        command += ["--configfile", f"{protocol}.yaml", "--cores", "1", *options]
        here = {name: value.format(folder=self.folder) for name, value in environment.items()}
        with self.log.open("ab") as log:
            self._begin = log.tell()
            return subprocess.Popen(
                ["bash", "-c", f'{shell}\nexec "$@"', "bash", *command],
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_hear_interrupts,
                env={**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": str(self.temporary), **here},
            )

    def call(self, protocol: str, *options: str) -> int:
        """Run `snakemake` to its end and return its exit status."""
        return self.start(protocol, *options).wait(1200)

    def printed(self) -> str:
        """Return what the last call printed."""
        return self.log.read_bytes()[self._begin :].decode(errors="replace")

    def unlock(self, protocol: str) -> None:
        """Do what docs/restart.md says after Snakemake itself was killed."""
        assert self.call(protocol, "--unlock") == 0, "snakemake --unlock"

    @property
    def log(self) -> Path:
        """The output of all calls."""
        return self.folder / "snakemake.log"

    @property
    def work(self) -> Path:
        """The folder of unfinished work."""
        return self.folder / "results/work"

    def reported(self) -> Iterator[tuple[str, int, float]]:
        """Yield run, trial and time of all results of trials that are kept in the work folder."""
        for log in self.work.rglob("log.jsonl"):
            run = str(log.parent.relative_to(self.work))
            for line in log.read_bytes().splitlines(keepends=True):
                try:
                    entry = json.loads(line.partition(b" ")[2])
                except ValueError:  # torn
                    break
                if line.endswith(b"\n") and entry["kind"] == "reported":
                    last = entry["progress"]["evaluations"][-1]
                    yield run, entry["index"], last["finished_at"]

    def record_files(self) -> dict[str, Path]:
        """Return the files of records by run."""
        runs = self.folder / "results/runs"
        return {str(path.parent.relative_to(runs)): path for path in runs.rglob("record.json")}

    def records(self) -> dict[str, dict[str, Any]]:
        """Return the records by run."""
        return {run: json.loads(path.read_text()) for run, path in self.record_files().items()}

    def longest_job(self) -> float:
        """Return the seconds that the longest tuning job took, by Snakemake's clock."""
        files = (self.folder / "benchmarks/tune").rglob("*.tsv")
        return max(float(file.read_text().splitlines()[1].split("\t")[0]) for file in files)

    def processes(self) -> list[psutil.Process]:
        """Return all processes that belong to the calls of this experiment, orphans too."""
        return [process for process in psutil.process_iter() if self._owns(process)]

    def forget(self) -> None:
        """Kill and remove all that is left outside the folder."""
        kill_all(self.processes())
        shutil.rmtree(self.temporary, ignore_errors=True)

    def _owns(self, process: psutil.Process) -> bool:
        try:
            place = Path(process.cwd())  # Ray's agents overwrite their environment
            ours = process.environ().get("TMPDIR") == str(self.temporary)
        except psutil.Error:
            return False
        return ours or place.is_relative_to(self.folder) or str(self.temporary) in words(process)

    def leftovers(self) -> list[str]:
        """Return what should not be there any more."""
        hidden = [path for path in self.folder.rglob("*.unfinished*") if path.is_file()]
        work = [path for path in self.work.rglob("*") if path.is_file()]
        locks = list((self.folder / ".snakemake/locks").glob("*"))
        incomplete = list((self.folder / ".snakemake/incomplete").glob("*"))
        temporary = list(self.temporary.glob("automata-*"))
        alive = [f"process {process.pid}: {words(process)}" for process in self.processes()]
        return [*map(str, (*hidden, *work, *locks, *incomplete, *temporary)), *alive]


def outcome(recorded: Any) -> Any:
    """Return what a record, or a part of one, says that any other process would have found."""
    if isinstance(recorded, dict):
        return {key: outcome(value) for key, value in recorded.items() if key not in OF_TIME}
    return [outcome(value) for value in recorded] if isinstance(recorded, list) else recorded


def _hear_interrupts() -> None:
    """Take back that Ctrl-C is ignored, as it is where a shell has put the drill aside with `&`."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def jobs(within: psutil.Process) -> list[psutil.Process]:
    """Return the tuning jobs below a process."""
    return [p for p in below(within) if "automata tune" in words(p) and "bash" not in words(p)]


def run_of(job: psutil.Process) -> str | None:
    """Return the run that a tuning job is at, None if it has ended."""
    found = re.search(r"--work results/work/(\S+)", words(job))
    return found[1] if found else None


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
