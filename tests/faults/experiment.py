"""A miniature experiment in a folder of its own, and what is left of it when it is broken."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from copy import deepcopy
from glob import glob
from pathlib import Path

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

PROTOCOLS = {
    "hyperband": {"schedulers": ["hyperband"], "selectors": ["full", "gradmatch"]},
    "asha": {"schedulers": ["asha"], "selectors": ["gradmatch"]},
    # ASHA's decisions would depend on the order in which results arrive.
    "pairs": {
        "schedulers": ["hyperband"],
        "selectors": ["full", "gradmatch"],
        "compute": {"concurrent_trials": 2},
        "protocol": {"tabular": {"finalists": 3, "finalist_rungs": {"0.3333": 2}}},
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
    "lock_wait_seconds",
    "digest",
}
"""Keys of a record that depend on when, where and how fast it ran; all else is the outcome."""


class Experiment:
    """Experiments of some protocols in one `folder`, run by calls of Snakemake."""

    def __init__(self, folder, protocols):
        self.folder, self.protocols = folder, protocols
        self.log, self.work = folder / "snakemake.log", folder / "results/work"
        # $TMPDIR of all calls: what lies there is ours. Ray puts sockets below it, whose paths have
        # at most 107 characters.
        self.temporary = Path(tempfile.mkdtemp(prefix="f-", dir="/tmp"))
        (folder / "hiding").mkdir(parents=True, exist_ok=True)
        (folder / "hiding/ray.py").touch()
        for name in protocols:
            experiment = {"experiment": name, **SHARED, **deepcopy(PROTOCOLS[name])}
            tabular = experiment.setdefault("protocol", {}).setdefault("tabular", {})
            tabular |= {"configurations": 12, "epochs": EPOCHS[name], "reselect_every": 9}
            (folder / f"{name}.yaml").write_text(yaml.safe_dump(experiment))

    def start(self, protocol, *options, shell="", **environment):
        """Start `snakemake` after commands of a `shell`, in a process group of its own."""
        command = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "workflow/Snakefile")]
        command += ["--configfile", f"{protocol}.yaml", "--cores", "1", *options]
        self.protocol = protocol
        here = {name: value.format(folder=self.folder) for name, value in environment.items()}
        with self.log.open("ab") as log:
            self._begin = log.tell()
            return subprocess.Popen(
                ["bash", "-c", f'{shell}\nexec "$@"', "bash", *command],
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
                # A shell that has put the drill aside with `&` ignores Ctrl-C.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
                env={**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": str(self.temporary), **here},
            )

    def call(self, protocol, *options):
        """Run `snakemake` to its end and return its exit status."""
        return self.start(protocol, *options).wait(1200)

    def printed(self):
        """Return what the last call printed."""
        return self.log.read_bytes()[self._begin :].decode(errors="replace")

    def reported(self):
        """Yield run, phase, trial and time of all results that are kept in the work folder."""
        # A run that ends removes its folder; `glob` passes over that, `Path.glob` does not.
        for name in glob("**/log.jsonl", root_dir=self.work, recursive=True):  # noqa: PTH207
            log = self.work / name
            run = str(Path(name).parents[1])
            for line in content(log).split(b"\n")[:-1]:
                digest, _, body = line.partition(b" ")
                if hashlib.sha256(body).hexdigest()[:16].encode() != digest:
                    break  # torn or altered: a job reads the lines before it
                entry = json.loads(body)
                if entry["kind"] == "reported":
                    # A final training without a choice has no evaluation.
                    for last in entry["progress"]["evaluations"][-1:]:
                        yield run, log.parent.name, entry["index"], last["finished_at"]

    def final_training_began(self, run):
        """Whether the final training of a run has begun."""
        return b'"started"' in content(self.work / run / "final/log.jsonl")

    def records(self):
        """Return the text of records by run."""
        runs = self.folder / "results/runs"
        files = runs.rglob("record.json")
        return {str(path.parent.relative_to(runs)): path.read_text() for path in files}

    def processes(self):
        """Return all processes that belong to the calls of this experiment, orphans too."""
        return [process for process in psutil.process_iter() if self._owns(process)]

    def forget(self):
        """Kill and remove all that is left outside the folder."""
        send(signal.SIGKILL, self.processes())
        shutil.rmtree(self.temporary, ignore_errors=True)

    def _owns(self, process):
        try:
            place = Path(process.cwd())  # Ray's agents overwrite their environment
            ours = process.environ().get("TMPDIR") == str(self.temporary)
        except psutil.Error:
            return False
        return ours or place.is_relative_to(self.folder) or str(self.temporary) in words(process)

    def leftovers(self):
        """Return what should not be there any more."""
        places = ("**/*.unfinished*", "results/work/**/*")
        places += (".snakemake/locks/*", ".snakemake/incomplete/*")
        found = [path for place in places for path in self.folder.glob(place)]
        files = [path for path in found if path.is_file()]
        temporary = self.temporary.glob("automata-*")
        alive = [f"process {process.pid}: {words(process)}" for process in self.processes()]
        return [*map(str, (*files, *temporary)), *alive]


def content(path):
    """Return the bytes of a file, nothing if it is gone."""
    with suppress(FileNotFoundError):
        return path.read_bytes()
    return b""


def outcome(recorded):
    """Return what a record, or a part of one, says that any other process would have found."""
    if isinstance(recorded, dict):
        return {key: outcome(value) for key, value in recorded.items() if key not in OF_TIME}
    return [outcome(value) for value in recorded] if isinstance(recorded, list) else recorded


def jobs(within):
    """Return the tuning jobs below a process."""
    return [p for p in below(within) if "automata tune" in words(p) and "bash" not in words(p)]


def run_of(job):
    """Return the run that a tuning job is at, None if it has ended."""
    found = re.search(r"--work results/work/(\S+)", words(job))
    return found[1] if found else None


def below(process):
    """Return all descendants."""
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def words(process):
    """Return the command of a process, nothing if it has ended."""
    try:
        return " ".join(process.cmdline()) if process.is_running() else ""
    except psutil.Error:
        return ""


def send(number, processes):
    """Send a signal to processes that may have ended."""
    for process in processes:
        with suppress(psutil.Error):
            process.send_signal(number)


def wait_until_gone(processes, seconds):
    """Return the commands of those that live longer."""
    deadline = time.monotonic() + seconds
    while any(map(words, processes)) and time.monotonic() < deadline:
        time.sleep(0.2)
    return [*filter(None, map(words, processes))]
