"""The faults: each breaks a running experiment in its own way."""

from __future__ import annotations

import random
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import psutil

from faults.experiment import Experiment, below, jobs, kill_all, words

Victim = Callable[[psutil.Process], list[psutil.Process]]


def job(snakemake: psutil.Process) -> list[psutil.Process]:
    """Return the process of the job."""
    return jobs(snakemake)


def worker(snakemake: psutil.Process) -> list[psutil.Process]:
    """Return Ray's process that trains."""
    titles = ("ray::ResourceTrainable", "ray::TuneTrial")
    return [p for p in below(snakemake) if words(p).startswith(titles)]


def raylet(snakemake: psutil.Process) -> list[psutil.Process]:
    """Return Ray's process that starts the others."""
    return [p for p in below(snakemake) if "/raylet/raylet " in words(p)]


def gcs(snakemake: psutil.Process) -> list[psutil.Process]:
    """Return Ray's process that knows of all others."""
    return [p for p in below(snakemake) if "/gcs/gcs_server " in words(p)]


def itself(snakemake: psutil.Process) -> list[psutil.Process]:
    """Return Snakemake itself, while a job runs."""
    return [snakemake] if jobs(snakemake) else []


def everything(snakemake: psutil.Process) -> list[psutil.Process]:
    """Return Snakemake and all below it, while a job has written something."""
    return [*below(snakemake), snakemake] if jobs(snakemake) else []


VICTIMS: dict[str, Victim] = {
    "job killed": job,
    "worker killed": worker,
    "raylet killed": raylet,
    "gcs_server killed": gcs,
    "snakemake killed": itself,
    "Ctrl-C": itself,
    "job terminated": job,
    "disk full": job,
    "power cut": everything,
}
"""Fault -> the processes that it needs."""


class Injector:
    """Brings about faults in one experiment."""

    def __init__(self, experiment: Experiment, chance: random.Random) -> None:
        self._experiment = experiment
        self._chance = chance
        self.torn: Path | None = None
        """The file that the last power cut tore."""

    def inject(self, fault: str, snakemake: psutil.Process, victims: list[psutil.Process]) -> None:
        """Bring about `fault`."""
        self.torn = None
        if fault == "Ctrl-C":  # a terminal sends it to all processes of the group
            for process in [snakemake, *below(snakemake)]:
                try:
                    process.send_signal(signal.SIGINT)
                except psutil.Error:
                    continue
        elif fault == "job terminated":
            for process in victims:
                process.send_signal(signal.SIGTERM)
        elif fault == "disk full":
            self._fill()
        elif fault == "worker killed":  # one of two trials at once
            kill_all([self._chance.choice(victims)])
        elif fault == "power cut":
            kill_all([*victims, *self._experiment.processes()])
            self._tear()
        else:
            kill_all(victims)

    def _fill(self) -> None:
        """Fill the file system of the work folder."""
        with (self._experiment.work / "filler").open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass

    def repair(self) -> None:
        """Make room again."""
        (self._experiment.work / "filler").unlink(missing_ok=True)

    def _tear(self) -> None:
        """Cut off the end of the file that was written last, of those that a job goes on from."""
        found = [p for p in self._experiment.work.rglob("*") if "ray" not in p.parts]
        files = [p for p in found if p.is_file() and p.stat().st_size]
        if files:
            self.torn = max(files, key=lambda path: path.stat().st_mtime_ns)
            with self.torn.open("r+b") as file:
                file.truncate(self._chance.randrange(self.torn.stat().st_size))


def mount(folder: Path, megabytes: int) -> bool:
    """Mount a small file system in memory at `folder`; False where that is not allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    options = f"size={megabytes}m"
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def unmount(folder: Path) -> None:
    """Take it away again."""
    subprocess.run(["umount", "--lazy", str(folder)], capture_output=True, check=False)
