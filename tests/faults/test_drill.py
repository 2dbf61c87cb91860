"""Experiments that are broken while they run end as those that were left alone.

$AUTOMATA_FAULTS is the number of faults, $AUTOMATA_FAULTS_SEED decides when which of them strikes.
Calls with other seeds and one $AUTOMATA_FAULTS_FOLDER are shares of one drill. The folder has the
undisturbed experiment, which the first share runs, and the faults of all shares: each share ends
with the table of them.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd
import psutil
import pytest
from filelock import FileLock

from faults.experiment import (
    PROTOCOLS,
    Experiment,
    below,
    jobs,
    outcome,
    run_of,
    wait_until_gone,
)
from faults.injections import FAULTS, Injector, mount, unmount

NUMBER = int(os.environ.get("AUTOMATA_FAULTS", len(FAULTS)))
SEED = int(os.environ.get("AUTOMATA_FAULTS_SEED", "0"))
FOLDER = os.environ.get("AUTOMATA_FAULTS_FOLDER")

IN_EACH = 20
"""Faults in one folder, at most; then its experiments may finish, and are compared."""

TOGETHER = (("hyperband", "pairs"), ("pairs", "asha"), ("asha", "hyperband"))
"""Protocols that are run in one folder."""

LATEST = 5
"""A fault strikes when the job has reported so many new results, at most."""

ANYWHERE = 0.15
"""Share of the faults that strike at any moment of a job, be it in Ray's start."""

GONE_SECONDS = 180.0
"""Ray's agents notice within a minute or two, on a busy machine, that a killed Ray is gone."""

FINISHED_SECONDS = 60.0
"""After the call that finishes, nothing is left."""

pytestmark = [pytest.mark.faults, pytest.mark.timeout(0)]

Promise = tuple[str, int, float]
"""Run, trial and time of a result that must not be repeated."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all shares."""
    path = Path(FOLDER) if FOLDER else tmp_path_factory.mktemp("faults")
    path.mkdir(parents=True, exist_ok=True)
    return path


@pytest.fixture(scope="module")
def undisturbed(folder: Path) -> Experiment:
    """All experiments, run in one go: by this share, unless another one did."""
    experiment = Experiment(folder / "undisturbed", tuple(PROTOCOLS))
    with FileLock(folder / "undisturbed.lock"):
        for protocol in PROTOCOLS:
            assert experiment.call(protocol, "--until", "tune") == 0
    experiment.forget()
    assert not any(record["resumed"] for record in experiment.records().values())
    return experiment


@dataclass
class Strike:
    """A fault that hit, as the table of all shares has it."""

    seed: int
    folder: int
    fault: str
    run: str
    """That the job was at."""
    after: str
    kept: int
    """Results of the run that were in its log afterwards."""
    at: float
    resumed: bool = False
    """Whether a later process went on from these results."""


def log(line: str) -> None:
    """Print a line at once."""
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)  # noqa: T201


class Drill:
    """Folders of experiments one after the other, until all faults have hit."""

    def __init__(self, folder: Path, undisturbed: Experiment) -> None:
        self.folder = folder / f"seed-{SEED}"
        self.undisturbed = undisturbed
        self.chance = random.Random(SEED)
        self.hits = 0
        self.failures: list[str] = []
        self.table = folder / f"faults-{SEED}.csv"
        for work in self.folder.glob("*/results/work"):  # of an earlier call
            unmount(work)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.table.unlink(missing_ok=True)

    def run(self) -> None:
        """Break experiments until no fault is left; compare each with the undisturbed one."""
        names = self._names()
        number = 0
        while self.hits < NUMBER:
            together = TOGETHER[(SEED + number) % len(TOGETHER)]
            experiment = Experiment(self.folder / str(number), together)
            small = mount(experiment.work, 32) and mount(experiment.temporary, 500)
            assert small, "tmpfs cannot be mounted: this drill needs root"
            broken = Broken(experiment, self.undisturbed, self.chance, number)
            try:
                broken.run(names, min(IN_EACH, NUMBER - self.hits))
                result = "as undisturbed"
            except Exception as error:
                result = f"FAILED: {type(error).__name__}: {str(error).strip()[:2000]}"
                self.failures.append(f"{experiment.folder}: {result}")
            finally:
                experiment.forget()
                unmount(experiment.work)
                unmount(experiment.temporary)
                shutil.rmtree(experiment.temporary, ignore_errors=True)
            log(f"folder {number}, {' and '.join(together)}: {result}")
            self.hits += len(broken.strikes)
            rows = pd.DataFrame(map(asdict, broken.strikes)).assign(outcome=result.splitlines()[0])
            rows.to_csv(self.table, mode="a", header=number == 0, index=False)
            number += 1
            assert broken.strikes, "no fault hit"

    def _names(self) -> Iterator[str]:
        """Yield faults in random order, each as often as any other."""
        while True:
            yield from self.chance.sample(list(FAULTS), len(FAULTS))


class Broken:
    """Experiments of one folder that faults strike."""

    def __init__(
        self, experiment: Experiment, undisturbed: Experiment, chance: random.Random, number: int
    ) -> None:
        self.experiment = experiment
        self.undisturbed = undisturbed
        self.chance = chance
        self.number = number
        self.strikes: list[Strike] = []
        self._injector = Injector(experiment, chance)
        self._promised: set[Promise] = set()
        self._finished: dict[str, str] = {}

    def run(self, names: Iterator[str], most: int) -> None:
        """Strike until the experiments are finished, or often enough; compare them then."""
        left = list(self.experiment.protocols)
        while left and len(self.strikes) < most:
            protocol = self.chance.choice(left)
            if not self._strike(protocol, next(names)):
                left.remove(protocol)
            self._look_at_records()
        for _ in "finish", "repeat nothing":
            for protocol in self.experiment.protocols:
                assert self.experiment.call(protocol, "--until", "tune") == 0, self._log()
            self._look_at_records()
        self._compare()

    def _log(self) -> str:
        return f"see {self.experiment.log}: {self.experiment.printed()[-500:]}"

    def _strike(self, protocol: str, name: str) -> bool:
        """Call Snakemake and break it in the middle of a job; return False if it ended before."""
        fault = FAULTS[name]
        anywhere = self.chance.random() < ANYWHERE
        wanted = self.chance.randint(1, LATEST)
        moment = self.chance.uniform(0.0, self.undisturbed.longest_job())
        before = set(self.experiment.reported())
        process = self.experiment.start(
            protocol, "--until", "tune", shell=fault.shell, **fault.environment
        )
        snakemake = psutil.Process(process.pid)
        since: float | None = None
        run = None
        while process.poll() is None:
            time.sleep(0.1)
            run = next(filter(None, map(run_of, jobs(snakemake))), None) or run
            if run is None:
                continue
            since = since or time.monotonic()
            if anywhere:
                due, after = time.monotonic() - since >= moment, f"{moment:.1f} s"
            else:
                new = {r for r in self.experiment.reported() if r[0] == run} - before
                due, after = len(new) >= wanted, f"{wanted} new results"
            victims = fault.victims(snakemake) if due else []
            if victims:
                self._hit(protocol, name, run, after, process, victims)
                return True
        self._injector.repair()
        if process.returncode == 0:
            return False
        assert fault.shell or fault.environment, self._log()
        line = self.experiment.printed().rstrip().rpartition("\n")[2]
        assert "Traceback" not in self.experiment.printed(), f"{name}: {self._log()}"
        log(f"{self.number}.{len(self.strikes) + 1:<3} {name} is refused: {line}")
        self._note(name, run or "", "its start")
        return True

    def _hit(
        self,
        protocol: str,
        name: str,
        run: str,
        after: str,
        process: subprocess.Popen[bytes],
        victims: list[psutil.Process],
    ) -> None:
        """Bring about a fault, wait for its consequences, and note what is kept."""
        fault = FAULTS[name]
        family = below(psutil.Process(process.pid))
        began = time.monotonic()
        self._injector.damaged = None
        fault.strike(self._injector, victims)
        process.wait(300)
        ended = time.monotonic() - began
        self._injector.repair()
        if fault.locked:
            self.experiment.unlock(protocol)
        if not fault.orphans:  # a user may not wait for Ray's processes of a killed job
            left = wait_until_gone(family, GONE_SECONDS)
            assert not left, f"{name}: {left}"
        damaged = self._injector.damaged
        if damaged is not None and damaged.name == "log.jsonl":
            lost = str(damaged.parent.relative_to(self.experiment.work))
            self._promised = {promise for promise in self._promised if promise[0] != lost}
        kept = self._note(name, run, after)
        cut = f", {damaged.name} damaged" if damaged else ""
        log(
            f"{self.number}.{len(self.strikes):<3} {name} after {after} of {run}{cut}: "
            f"ended in {ended:.0f} s, {kept} results are kept"
        )

    def _note(self, name: str, run: str, after: str) -> int:
        """Add a strike; return how many results of the run are kept, which nobody may repeat."""
        reported = set(self.experiment.reported())
        self._promised |= reported
        kept = sum(result[0] == run for result in reported)
        self.strikes.append(Strike(SEED, self.number, name, run, after, kept, time.time()))
        return kept

    def _look_at_records(self) -> None:
        """Check that no finished record is lost or changed."""
        found = {
            run: hashlib.sha256(path.read_bytes()).hexdigest()
            for run, path in self.experiment.record_files().items()
        }
        for run, digest in self._finished.items():
            assert found.get(run) == digest, f"{run}: its finished record was lost or changed"
        self._finished = found

    def _compare(self) -> None:
        """Check records, tables and leftovers of finished experiments."""
        deadline = time.monotonic() + FINISHED_SECONDS
        while self.experiment.leftovers() and time.monotonic() < deadline:
            time.sleep(1)
        assert self.experiment.leftovers() == []
        records, expected = self.experiment.records(), self.undisturbed.records()
        mine = {run for run in expected if _protocol(expected[run]) in self.experiment.protocols}
        assert records.keys() == mine
        for run, record in records.items():
            assert outcome(record) == outcome(expected[run]), run
            _check_segments(run, record)
        for run, index, finished_at in self._promised:
            evaluations = records[run]["tuning"]["trials"][index]["progress"]["evaluations"]
            times = [evaluation["finished_at"] for evaluation in evaluations]
            assert finished_at in times, f"{run}: trial {index} was repeated"
            assert records[run]["resumed"] or _in_one_go(records[run], finished_at), run
        for strike in self.strikes:
            if strike.run and strike.kept and FAULTS[strike.fault].resumes:
                windows = _windows(records[strike.run])
                later = any(window["started_at"] > strike.at for window in windows)
                strike.resumed = later and records[strike.run]["resumed"]


def _protocol(record: dict) -> str:
    """Return the name of the protocol that a record is of."""
    if record["job"]["settings"]["compute"]["concurrent_trials"] == 2:
        return "pairs"
    return str(record["job"]["run"]["scheduler"])


def _windows(record: dict) -> Iterator[dict]:
    for phase in (record["tuning"], record["final"]):
        yield from (segment["measurement"] for segment in (phase or {}).get("segments", []))


def _in_one_go(record: dict, finished_at: float) -> bool:
    """Return whether one process searched, this result included: it outlived its Snakemake."""
    (window,) = (segment["measurement"] for segment in record["tuning"]["segments"])
    return 0.0 <= finished_at - window["started_at"] <= window["wall_seconds"]


def _check_segments(run: str, record: dict) -> None:
    """Check that no stretch of time is in two segments."""
    end = 0.0
    for window in _windows(record):
        assert window["started_at"] >= end - 0.5, f"{run}: segments overlap"
        end = window["started_at"] + window["wall_seconds"]


def _tally(folder: Path) -> str:
    """Return the table of the faults of all shares."""
    strikes = pd.concat(map(pd.read_csv, sorted(folder.glob("faults-*.csv"))))
    rows = strikes.assign(
        hits=1, kept=strikes["kept"] > 0, undisturbed=strikes["outcome"] == "as undisturbed"
    )
    table = rows.groupby("fault")[["hits", "kept", "resumed", "undisturbed"]].sum()
    table.loc["all"] = table.sum()
    return table.to_string()


def test_broken_experiments_end_as_undisturbed_ones(folder: Path, undisturbed: Experiment) -> None:
    drill = Drill(folder, undisturbed)

    drill.run()

    log(f"faults of all shares in {folder}:\n{_tally(folder)}")
    assert drill.failures == []
    assert drill.hits == NUMBER
