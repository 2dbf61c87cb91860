"""The faults: each breaks a running experiment in its own way."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from faults.experiment import Experiment, below, jobs, kill_all, words

Processes = list[psutil.Process]
Victims = Callable[[psutil.Process], Processes]


def job(snakemake: psutil.Process) -> Processes:
    """Return the process of the job."""
    return jobs(snakemake)


def workers(snakemake: psutil.Process) -> Processes:
    """Return Ray's processes that train."""
    titles = ("ray::ResourceTrainable", "ray::TuneTrial")
    return [p for p in below(snakemake) if words(p).startswith(titles)]


def raylet(snakemake: psutil.Process) -> Processes:
    """Return Ray's process that starts the others."""
    return [p for p in below(snakemake) if "/raylet/raylet " in words(p)]


def gcs(snakemake: psutil.Process) -> Processes:
    """Return Ray's process that knows all others."""
    return [p for p in below(snakemake) if "/gcs/gcs_server " in words(p)]


def itself(snakemake: psutil.Process) -> Processes:
    """Return Snakemake itself, while a job runs."""
    return [snakemake] if jobs(snakemake) else []


def everything(snakemake: psutil.Process) -> Processes:
    """Return Snakemake and all below it, while a job runs."""
    return [*below(snakemake), snakemake] if jobs(snakemake) else []


class Injector:
    """Brings about faults in one experiment."""

    def __init__(self, experiment: Experiment, chance: random.Random) -> None:
        self.experiment = experiment
        self._chance = chance
        self.damaged: Path | None = None
        """The work file that the last fault cut or altered."""

    def kill(self, victims: Processes) -> None:
        """Kill all victims."""
        kill_all(victims)

    def kill_one(self, victims: Processes) -> None:
        """Kill one, such as one of two trials at once."""
        kill_all([self._chance.choice(victims)])

    def terminate(self, victims: Processes) -> None:
        """Ask the victims to end."""
        _send(victims, signal.SIGTERM)

    def interrupt(self, victims: Processes) -> None:
        """Press Ctrl-C: a terminal sends it to all processes of the group."""
        _send(victims, signal.SIGINT)

    def cut_power(self, victims: Processes) -> None:
        """Kill everything, and cut off the end of the work file that was written last."""
        kill_all([*victims, *self.experiment.processes()])
        files = self._work_files()
        self.damaged = max(files, key=lambda path: path.stat().st_mtime_ns, default=None)
        if self.damaged:
            with self.damaged.open("r+b") as file:
                file.truncate(self._chance.randrange(self.damaged.stat().st_size))

    def alter_a_bit(self, victims: Processes) -> None:
        """Kill the job, and alter one bit of a work file."""
        kill_all(victims)
        files = self._work_files()
        self.damaged = self._chance.choice(files) if files else None
        if self.damaged:
            content = bytearray(self.damaged.read_bytes())
            content[self._chance.randrange(len(content))] ^= 1 << self._chance.randrange(8)
            self.damaged.write_bytes(content)

    def _work_files(self) -> list[Path]:
        """Return the files that a job resumes from."""
        found = self.experiment.work.rglob("*")
        files = [p for p in found if p.is_file() and not {"ray", "lock"} & {*p.parts}]
        return sorted(p for p in files if p.stat().st_size)

    def fill_work(self, victims: Processes) -> None:
        """Fill the file system of the work folder."""
        _fill(self.experiment.work)

    def fill_temporary(self, victims: Processes) -> None:
        """Fill the file system of $TMPDIR."""
        _fill(self.experiment.temporary)
        time.sleep(5)  # a job may need no more room there
        kill_all(victims)

    def call_twice(self, victims: Processes) -> None:
        """Call Snakemake once more in the same folder, which it refuses; then kill the job."""
        assert self.experiment.call(self.experiment.protocols[0], "--until", "tune") == 1
        assert "Directory cannot be locked" in self.experiment.printed()
        kill_all(victims)

    def repair(self) -> None:
        """Make room, make folders writable again, and date prepared data today."""
        subprocess.run(["mount", "-o", "remount,rw", self.experiment.work], check=True)
        for path in (self.experiment.folder / "results/data").glob("*"):
            path.touch()
        for folder in (self.experiment.work, self.experiment.temporary):
            (folder / "filler").unlink(missing_ok=True)


@dataclass(frozen=True)
class Fault:
    """A fault, and what it leaves."""

    victims: Victims
    """Returns the processes that it needs; none if it cannot strike now."""
    strike: Callable[[Injector, Processes], None] = Injector.kill
    locked: bool = False
    """Whether Snakemake is killed, and its lock stays."""
    orphans: bool = True
    """Whether the job or Ray's processes may live on for a while."""
    resumes: bool = True
    """Whether another process goes on with the run."""
    shell: str = ""
    """Commands of a shell before the call."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of the call; {folder} stands for the folder of the experiment."""


ENDS = {"orphans": False}

FAULTS = {
    "job killed": Fault(job),
    "worker killed": Fault(workers, Injector.kill_one, **ENDS),
    "raylet killed": Fault(raylet, **ENDS),
    "gcs_server killed": Fault(gcs, **ENDS),
    "snakemake killed": Fault(itself, locked=True, resumes=False),
    "snakemake terminated": Fault(itself, Injector.terminate, resumes=False),
    "snakemake interrupted": Fault(itself, Injector.interrupt),
    "Ctrl-C": Fault(everything, Injector.interrupt, **ENDS),
    "job terminated": Fault(job, Injector.terminate, **ENDS),
    "power cut": Fault(everything, Injector.cut_power, locked=True, **ENDS),
    "bit altered": Fault(job, Injector.alter_a_bit),
    "disk full": Fault(job, Injector.fill_work, **ENDS),
    "$TMPDIR full": Fault(job, Injector.fill_temporary),
    "two calls": Fault(job, Injector.call_twice),
    # Odd environments: the call refuses them in a line, or works until its job is killed.
    "HOME cannot be written": Fault(
        job, environment={"HOME": "/proc/nowhere", "XDG_CACHE_HOME": "{folder}/cache"}
    ),
    "PYTHONOPTIMIZE": Fault(job, environment={"PYTHONOPTIMIZE": "2"}),
    "module hides Ray": Fault(job, environment={"PYTHONPATH": "{folder}/hiding"}),
    "other locale": Fault(job, environment={"LC_ALL": "C", "TZ": "Pacific/Kiritimati"}),
    "private umask": Fault(job, shell="umask 077"),
    "no terminal": Fault(job, shell="exec < /dev/null; unset TERM USER LOGNAME"),
    "few files": Fault(job, shell="ulimit -n 256"),
    "short files": Fault(job, shell="ulimit -f 20000"),
    "little memory": Fault(job, shell="ulimit -v 6000000"),
    "read-only folder": Fault(job, shell='mount -o remount,ro "$PWD/results/work"'),
    "data of tomorrow": Fault(job, shell="touch -d tomorrow results/data/*.safetensors || true"),
}
"""Name -> fault. Changed settings need none: a folder has experiments of two protocols by turns."""


def _send(processes: Processes, number: signal.Signals) -> None:
    for process in processes:
        try:
            process.send_signal(number)
        except psutil.Error:
            continue


def _fill(folder: Path) -> None:
    with (folder / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass


def mount(folder: Path, megabytes: int) -> bool:
    """Mount a small file system in memory at `folder`; return whether that is allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def unmount(folder: Path) -> None:
    """Take it away again."""
    subprocess.run(["umount", "--lazy", folder], capture_output=True, check=False)
