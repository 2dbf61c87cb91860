"""Experiments that are broken while they run end as those that were left alone.

$AUTOMATA_FAULTS is the number of faults, $AUTOMATA_FAULTS_SEED decides when which of them strikes.
"""

import json
import os
import random
import shutil
import time
import traceback

import psutil
import pytest

from faults.experiment import PROTOCOLS, Experiment, below, jobs, outcome, run_of, wait_until_gone
from faults.injections import FAULTS, Injector, mount, unmount

NUMBER = int(os.environ.get("AUTOMATA_FAULTS", len(FAULTS)))
SEED = int(os.environ.get("AUTOMATA_FAULTS_SEED", "0"))

TOGETHER = (("hyperband", "pairs"), ("pairs", "asha"), ("asha", "hyperband"))
"""Protocols that are run in one folder."""

pytestmark = [pytest.mark.faults, pytest.mark.timeout(0)]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Records of all experiments, run in one go."""
    experiment = Experiment(tmp_path_factory.mktemp("undisturbed"), tuple(PROTOCOLS))
    for protocol in PROTOCOLS:
        assert experiment.call(protocol, "--until", "tune") == 0
    experiment.forget()
    records = {run: json.loads(text) for run, text in experiment.records().items()}
    assert not any(record["resumed"] for record in records.values())
    return records


def log(line):
    """Print a line at once."""
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)  # noqa: T201


class Drill:
    """Experiments of one folder that faults strike."""

    def __init__(self, experiment, undisturbed, chance):
        self.experiment, self.undisturbed, self.chance = experiment, undisturbed, chance
        self.hits = 0
        self._injector = Injector(experiment, chance)
        self._promised = set()
        """Run, phase, trial and time of each result that must not be repeated."""
        self._finished = {}

    def run(self, names, most):
        """Strike until the experiments are finished, or often enough; compare them then."""
        left = list(self.experiment.protocols)
        while left and self.hits < most:
            protocol, name = self.chance.choice(left), names.pop()
            if not self._strike(protocol, name):
                left.remove(protocol)
                names.append(name)
            self._look_at_records()
        for _ in "finish", "repeat nothing":
            for protocol in self.experiment.protocols:
                assert self.experiment.call(protocol, "--until", "tune") == 0, self._log()
            self._look_at_records()
        self._compare()

    def _log(self):
        return f"see {self.experiment.log}: {self.experiment.printed()[-500:]}"

    def _strike(self, protocol, name):
        """Call Snakemake and break it in the middle of a job; return False if it ended before."""
        fault = FAULTS[name]
        anywhere = self.chance.random() < 0.15  # at any moment, be it in Ray's start
        wanted = self.chance.randint(1, 5)
        moment = self.chance.uniform(0.0, 30.0)  # a job takes about 30 seconds
        final = not anywhere and self.chance.random() < 0.4
        pause = self.chance.uniform(0.0, 2.0)  # a final training takes two
        after = f"{moment:.1f} s" if anywhere else f"{wanted} new results"
        if final:
            after = f"{pause:.1f} s of the final training"
        before = set(self.experiment.reported())
        process = self.experiment.start(
            protocol, "--until", "tune", shell=fault.shell, **fault.environment
        )
        snakemake = psutil.Process(process.pid)
        since = run = None
        while process.poll() is None:
            time.sleep(0.1)
            run = next(filter(None, map(run_of, jobs(snakemake))), None) or run
            if run is None:
                continue
            since = since or time.monotonic()
            new = {result for result in self.experiment.reported() if result[0] == run} - before
            due = time.monotonic() - since >= moment if anywhere else len(new) >= wanted
            if final and (due := self.experiment.final_training_began(run)):
                time.sleep(pause)
                if run not in map(run_of, jobs(snakemake)):
                    continue  # it has ended
            if due and (victims := fault.victims(snakemake)):
                self._hit(name, process, victims)
                if fault.locked:
                    unlocked = self.experiment.call(protocol, "--unlock")  # see docs/restart.md
                    assert unlocked == 0, self._log()
                self._note(name, run, after)
                return True
        self._injector.repair()
        if process.returncode == 0:
            return False
        assert fault.shell or fault.environment, self._log()
        assert "Traceback" not in self.experiment.printed(), f"{name}: {self._log()}"
        last = self.experiment.printed().rstrip().rpartition("\n")[2]
        assert last or name == "no streams", f"{name}: no line; it ended with {process.returncode}"
        log(f"{name} is refused: {last}")
        self._note(name, run or "", "its start")
        return True

    def _hit(self, name, process, victims):
        """Bring about a fault, and wait for its consequences."""
        fault = FAULTS[name]
        family = below(psutil.Process(process.pid))
        self._injector.damaged = None
        fault.strike(self._injector, victims)
        process.wait(1200)  # a job at its end may need the victim no more; the next jobs follow
        self._injector.repair()
        if not fault.orphans:  # a user may not wait for Ray's processes of a killed job
            # On a busy machine, Ray's agents notice after a minute or two that Ray was killed.
            assert wait_until_gone(family, 180) == [], name
        damaged = self._injector.damaged
        if damaged is not None and damaged.name == "log.jsonl":
            # Without all results of the search, a final training may start over.
            run = str(damaged.parents[1].relative_to(self.experiment.work))
            phases = {"search", "final"} if damaged.parent.name == "search" else {"final"}
            self._promised = {
                promise
                for promise in self._promised
                if promise[0] != run or promise[1] not in phases
            }

    def _note(self, name, run, after):
        """Count a hit; nobody may repeat the results that are kept after it."""
        reported = set(self.experiment.reported())
        self._promised |= reported
        self.hits += 1
        kept = sum(result[0] == run for result in reported)
        where = f"{self.experiment.folder.name}.{self.hits:<3}"
        log(f"{where} {name} after {after} of {run}: {kept} results kept")

    def _look_at_records(self):
        """Check that no finished record is lost or changed."""
        found = self.experiment.records()
        for run, record in self._finished.items():
            assert found.get(run) == record, f"{run}: its finished record was lost or changed"
        self._finished = found

    def _compare(self):
        """Check records and leftovers of finished experiments."""
        deadline = time.monotonic() + 60
        while self.experiment.leftovers() and time.monotonic() < deadline:
            time.sleep(1)
        assert self.experiment.leftovers() == []
        records = {run: json.loads(text) for run, text in self.experiment.records().items()}
        for run, record in self.undisturbed.items():
            assert (run in records) == (_protocol(record) in self.experiment.protocols), run
        for run, record in records.items():
            assert outcome(record) == outcome(self.undisturbed[run]), run
            _check_segments(run, record)
        for run, phase, index, finished_at in self._promised:
            parts = _trained(records[run], phase, index)
            times = [each["finished_at"] for part in parts for each in part["evaluations"]]
            assert finished_at in times, f"{run}: {phase} training {index} was repeated"
            whole = records[run]["resumed"] or _in_one_go(records[run], phase, finished_at)
            assert whole, run


def _protocol(record):
    """Return the name of the protocol that a record is of."""
    if record["job"]["settings"]["compute"]["concurrent_trials"] == 2:
        return "pairs"
    return record["job"]["run"]["scheduler"]


def _windows(record):
    for phase in (record["tuning"], record["final"]):
        yield from (segment["measurement"] for segment in (phase or {}).get("segments", []))


def _trained(record, phase, index):
    """Return the progress of a trial of the search, or of all finalists."""
    if phase == "search":
        return [record["tuning"]["trials"][index]["progress"]]
    final = record["final"]
    return [final["progress"], *(finalist["progress"] for finalist in final["lost"])]


def _in_one_go(record, phase, finished_at):
    """Return whether one process had this result: it outlived its Snakemake."""
    part = record["tuning" if phase == "search" else "final"]
    (window,) = (segment["measurement"] for segment in part["segments"])
    return 0.0 <= finished_at - window["started_at"] <= window["wall_seconds"]


def _check_segments(run, record):
    """Check that no stretch of time is in two segments.

    If the log of a finished search is damaged, the search goes on after a final training has begun.
    """
    end = 0.0
    for window in sorted(_windows(record), key=lambda window: window["started_at"]):
        assert window["started_at"] >= end - 0.5, f"{run}: segments overlap"
        end = window["started_at"] + window["wall_seconds"]


def _in_random_order(chance):
    """Return NUMBER faults or more, each as often as any other."""
    rounds = range(NUMBER // len(FAULTS) + 1)
    return [name for _ in rounds for name in chance.sample([*FAULTS], len(FAULTS))]


def test_broken_experiments_end_as_undisturbed_ones(undisturbed, tmp_path):
    chance = random.Random(SEED)
    names = _in_random_order(chance)
    hits, failures = 0, []
    for number in range(NUMBER):
        together = TOGETHER[(SEED + number) % len(TOGETHER)]
        experiment = Experiment(tmp_path / str(number), together)
        small = mount(experiment.work, 32) and mount(experiment.temporary, 500)
        assert small, "tmpfs cannot be mounted: this drill needs root"
        drill = Drill(experiment, undisturbed, chance)
        result = "as undisturbed"
        try:
            # After 20 faults at most, the experiments may finish, and are compared.
            drill.run(names, min(20, NUMBER - hits))
        except Exception:
            result = f"FAILED: {traceback.format_exc()[-2000:]}"
            failures.append(f"{experiment.folder}: {result}")
        finally:
            experiment.forget()
            unmount(experiment.work)
            unmount(experiment.temporary)
            shutil.rmtree(experiment.temporary, ignore_errors=True)
        log(f"folder {number}, {' and '.join(together)}: {result}")
        hits += drill.hits
        if not drill.hits or hits >= NUMBER:
            break
    assert failures == []
    assert hits == NUMBER, "too few faults hit"
