"""The faults: each breaks a running experiment in its own way."""

import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from faults.experiment import below, jobs, send, words


def named(*parts):
    """Return what finds the processes below Snakemake whose command has one of these parts."""
    return lambda snakemake: [
        process for process in below(snakemake) if any(part in words(process) for part in parts)
    ]


def itself(snakemake):
    """Return Snakemake itself, while a job runs."""
    return [snakemake] if jobs(snakemake) else []


def everything(snakemake):
    """Return Snakemake and all below it, while a job runs."""
    return [*below(snakemake), snakemake] if jobs(snakemake) else []


def sending(number):
    """Return what sends a signal to all victims."""
    return lambda injector, victims: send(number, victims)


KILL, TERMINATE, INTERRUPT = map(sending, (signal.SIGKILL, signal.SIGTERM, signal.SIGINT))


class Injector:
    """Brings about faults in one experiment."""

    def __init__(self, experiment, chance):
        self.experiment = experiment
        self._chance = chance
        self.damaged = None
        """The work file that the last fault cut or altered."""

    def kill_one(self, victims):
        """Kill one, such as one of two trials at once."""
        send(signal.SIGKILL, [self._chance.choice(victims)])

    def cut_power(self, victims):
        """Kill everything, and cut off the end of the work file that was written last."""
        send(signal.SIGKILL, [*victims, *self.experiment.processes()])
        files = self._work_files()
        self.damaged = max(files, key=lambda path: path.stat().st_mtime_ns, default=None)
        if self.damaged:
            content = self.damaged.read_bytes()
            self.damaged.write_bytes(content[: self._chance.randrange(len(content))])

    def alter_a_bit(self, victims):
        """Kill the job, and alter one bit of a work file."""
        send(signal.SIGKILL, victims)
        files = self._work_files()
        self.damaged = self._chance.choice(files) if files else None
        if self.damaged:
            content = bytearray(self.damaged.read_bytes())
            content[self._chance.randrange(len(content))] ^= 1 << self._chance.randrange(8)
            self.damaged.write_bytes(content)

    def _work_files(self):
        """Return the files that a job resumes from."""
        found = self.experiment.work.rglob("*")
        files = [p for p in found if p.is_file() and not {"ray", "lock"} & {*p.parts}]
        return sorted(p for p in files if p.stat().st_size)

    def fill_work(self, victims):
        _fill(self.experiment.work)

    def fill_temporary(self, victims):
        _fill(self.experiment.temporary)
        time.sleep(5)  # a job may need no more room there
        send(signal.SIGKILL, victims)

    def remove_temporary(self, victims):
        """Remove what lies in $TMPDIR, as a cleaner does."""
        for path in self.experiment.temporary.iterdir():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        time.sleep(5)  # a job may need nothing more from there
        send(signal.SIGKILL, victims)

    def call_twice(self, victims):
        """Call Snakemake once more for the same files, which it refuses; then kill the job."""
        assert self.experiment.call(self.experiment.protocol, "--until", "tune") == 1
        assert "Directory cannot be locked" in self.experiment.printed()
        send(signal.SIGKILL, victims)

    def repair(self):
        """Make room, make folders writable again, and date prepared data today."""
        subprocess.run(["mount", "-o", "remount,rw", self.experiment.work], check=True)
        for path in (self.experiment.folder / "results/data").glob("*"):
            path.touch()
        for folder in (self.experiment.work, self.experiment.temporary):
            (folder / "filler").unlink(missing_ok=True)


@dataclass(frozen=True)
class Fault:
    """A fault, and what it leaves."""

    victims: Callable
    """Returns the processes below Snakemake that it needs; none if it cannot strike now."""
    strike: Callable = KILL
    """Gets the injector and the victims."""
    locked: bool = False
    """Whether Snakemake is killed, and its lock stays."""
    orphans: bool = True
    """Whether the job or Ray's processes may live on for a while."""
    shell: str = ""
    """Commands of a shell before the call."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of the call; {folder} stands for the folder of the experiment."""


ENDS = {"orphans": False}

FAULTS = {
    "job killed": Fault(jobs),
    "worker killed": Fault(
        named("ray::ResourceTrainable", "ray::TuneTrial"), Injector.kill_one, **ENDS
    ),
    "raylet killed": Fault(named("/raylet/raylet "), **ENDS),
    "gcs_server killed": Fault(named("/gcs/gcs_server "), **ENDS),
    "snakemake killed": Fault(itself, locked=True),
    "snakemake terminated": Fault(itself, TERMINATE),
    "snakemake interrupted": Fault(itself, INTERRUPT),
    "Ctrl-C": Fault(everything, INTERRUPT, **ENDS),
    "job terminated": Fault(jobs, TERMINATE, **ENDS),
    "power cut": Fault(everything, Injector.cut_power, locked=True, **ENDS),
    "bit altered": Fault(jobs, Injector.alter_a_bit),
    "disk full": Fault(jobs, Injector.fill_work, **ENDS),
    "$TMPDIR full": Fault(jobs, Injector.fill_temporary),
    "$TMPDIR removed": Fault(jobs, Injector.remove_temporary),
    "two calls": Fault(jobs, Injector.call_twice),
    # Odd environments: the call refuses them in a line, or works until its job is killed.
    "HOME cannot be written": Fault(
        jobs, environment={"HOME": "/proc/nowhere", "XDG_CACHE_HOME": "{folder}/cache"}
    ),
    "PYTHONOPTIMIZE": Fault(jobs, environment={"PYTHONOPTIMIZE": "2"}),
    "module hides Ray": Fault(jobs, environment={"PYTHONPATH": "{folder}/hiding"}),
    "Ray's variables": Fault(
        jobs,
        environment={
            "TUNE_RESULT_DIR": "/proc/nowhere",
            "RAY_USE_TLS": "1",
            "RAY_AUTH_MODE": "token",
            "RAY_num_workers_soft_limit": "few",
        },
    ),
    "no network": Fault(jobs, shell='set -- unshare --net "$@"'),
    "no streams": Fault(jobs, shell="exec <&- >&- 2>&-"),
    "other locale": Fault(jobs, environment={"LC_ALL": "C", "TZ": "Pacific/Kiritimati"}),
    "private umask": Fault(jobs, shell="umask 077"),
    "no terminal": Fault(jobs, shell="exec < /dev/null; unset TERM USER LOGNAME"),
    "few files": Fault(jobs, shell="ulimit -n 256"),
    "short files": Fault(jobs, shell="ulimit -f 20000"),
    "little memory": Fault(jobs, shell="ulimit -v 6000000"),
    "read-only folder": Fault(jobs, shell='mount -o remount,ro "$PWD/results/work"'),
    "data of tomorrow": Fault(jobs, shell="touch -d tomorrow results/data/*.safetensors || true"),
}
"""Name -> fault. Changed settings need none: a folder has experiments of two protocols by turns."""


def _fill(folder):
    with suppress(OSError), (folder / "filler").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def mount(folder, megabytes):
    """Mount a small file system in memory at `folder`; return whether that is allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def unmount(folder):
    subprocess.run(["umount", "--lazy", folder], capture_output=True, check=False)
