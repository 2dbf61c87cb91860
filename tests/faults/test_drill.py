"""Experiments that are broken at random moments end with the tables of one that was not.

`pytest -m faults -s` takes half an hour or more; $AUTOMATA_FAULTS is the number of faults (32).
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import psutil
import pytest

from faults.experiment import Experiment, below, jobs, wait_until_gone
from faults.injections import VICTIMS, Injector, mount, unmount

FAULTS = int(os.environ.get("AUTOMATA_FAULTS", "32"))
IN_EACH = 4
"""Faults in one experiment, at most; then it may finish, and is compared."""

SEED = int(os.environ.get("AUTOMATA_FAULTS_SEED", "0"))
GONE_SECONDS = 180.0
"""Ray's agents notice within a minute or two, on a busy machine, that a killed Ray is gone."""

pytestmark = [pytest.mark.faults, pytest.mark.timeout(0)]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    """The experiment, run in one go."""
    experiment = Experiment(tmp_path_factory.mktemp("undisturbed"))
    experiment.prepare()
    assert experiment.call("tables") == 0
    return experiment


Promise = tuple[str, int, float]
"""Run, trial and time of a result that must not be repeated."""


def say(line: str) -> None:
    """Tell how it goes, at once."""
    print(line, flush=True)  # noqa: T201


class Drill:
    """Experiments one after the other, until all faults have hit."""

    def __init__(self, folder: Path, undisturbed: Experiment) -> None:
        self.folder = folder
        self.undisturbed = undisturbed
        self.chance = random.Random(SEED)
        self.hits: Counter[str] = Counter()
        self.experiments = 0

    def faults(self) -> Iterator[str]:
        """Yield faults in random order, each as often as any other."""
        while sum(self.hits.values()) < FAULTS:
            order = list(VICTIMS)
            self.chance.shuffle(order)
            for fault in order:
                if sum(self.hits.values()) < FAULTS:
                    yield fault

    def run(self) -> None:
        """Break experiments until no fault is left; compare each with the undisturbed one."""
        faults = self.faults()
        fault = next(faults, None)
        while fault is not None:
            experiment = Experiment(self.folder / str(self.experiments))
            experiment.prepare()
            small = mount(experiment.work, megabytes=16)
            assert small, "tmpfs cannot be mounted: this drill needs root"
            try:
                fault = self._break_until_finished(experiment, fault, faults)
            finally:
                unmount(experiment.work)
            self.experiments += 1

    def _break_until_finished(
        self, experiment: Experiment, fault: str | None, faults: Iterator[str]
    ) -> str | None:
        """Return the fault that comes next, None after the last."""
        injector = Injector(experiment, self.chance)
        promised: set[Promise] = set()
        began, strikes = time.time(), 0
        while not experiment.finished():
            if fault is None or strikes == IN_EACH:
                assert experiment.call("tables") == 0
                break
            moment = self.chance.uniform(0.0, self.undisturbed.longest_job())
            struck = self._strike(experiment, injector, fault, moment)
            promised = _without_torn(promised, experiment, injector.torn)
            promised |= set(experiment.reported())
            if struck:
                torn = f", {injector.torn.name} torn" if injector.torn else ""
                results = sum(1 for _ in experiment.reported())
                say(
                    f"{sum(self.hits.values()) + 1:3} {fault} after {moment:4.1f} s of a job"
                    f"{torn}; {results} results are kept"
                )
                self.hits[fault] += 1
                strikes += 1
                fault = next(faults, None)
        self._compare(experiment, promised, time.time() - began)
        return fault

    def _strike(
        self, experiment: Experiment, injector: Injector, fault: str, moment: float
    ) -> bool:
        """Call Snakemake and break it `moment` seconds into a job; False if it ended before."""
        process = experiment.start("tables")
        snakemake = psutil.Process(process.pid)
        since: float | None = None
        while process.poll() is None:
            if since is None and jobs(snakemake):
                since = time.monotonic()
            due = since is not None and time.monotonic() - since >= moment
            victims = VICTIMS[fault](snakemake) if due else []
            if victims:
                family = below(snakemake)
                injector.inject(fault, snakemake, victims)
                process.wait(300)
                injector.repair()
                self._after(experiment, fault, family)
                return True
            time.sleep(0.05)
        assert process.returncode == 0, f"see {experiment.folder / 'snakemake.log'}"
        return False

    def _after(self, experiment: Experiment, fault: str, family: list[psutil.Process]) -> None:
        """Check that nothing lives on that should not, and do what the README says."""
        if fault in ("snakemake killed", "power cut"):
            experiment.unlock()
        # Snakemake's job goes on, as it does on a cluster; and a user may not wait for Ray's
        # processes to notice that their job is gone.
        if fault not in ("snakemake killed", "job killed"):
            left = wait_until_gone(family, GONE_SECONDS)
            assert not left, f"{fault}: {left}"

    def _compare(self, experiment: Experiment, promised: set[Promise], seconds: float) -> None:
        """Check tables, records and leftovers of a finished experiment."""
        expected, found = self.undisturbed.tables(), experiment.tables()
        assert found.keys() == expected.keys()
        for name, table in expected.items():
            assert len(table.columns), name
            pd.testing.assert_frame_equal(found[name], table, obj=f"{experiment.folder}: {name}")
        records = experiment.records()
        for run, index, finished_at in promised:
            evaluations = records[run]["tuning"]["trials"][index]["progress"]["evaluations"]
            times = [evaluation["finished_at"] for evaluation in evaluations]
            assert finished_at in times, f"{run}: trial {index} was repeated"
            assert records[run]["resumed"] or _in_one_go(records[run], finished_at), run
        for run, record in records.items():
            _check_segments(run, record)
        assert experiment.leftovers() == []
        say(self._account(experiment, seconds))

    def _account(self, experiment: Experiment, seconds: float) -> str:
        """Say how the CPU time that was counted compares with that of the undisturbed runs."""
        counted, whole = (
            sum(m["cpu_seconds"] for record in e.records().values() for m in _windows(record))
            for e in (experiment, self.undisturbed)
        )
        segments = sum(len(list(_windows(r))) for r in experiment.records().values())
        return (
            f"    experiment {self.experiments}: identical tables after {seconds:.0f} s; "
            f"{segments} segments, {counted:.1f} CPU s counted, {whole:.1f} undisturbed"
        )


def _without_torn(
    promised: set[Promise], experiment: Experiment, torn: Path | None
) -> set[Promise]:
    """Leave out what need not be kept once the file `torn` is damaged."""
    if torn is None:
        return promised
    run, *inside = str(torn.relative_to(experiment.work)).rsplit("/", 1 + (torn.suffix == ".pt"))
    if torn.name == "journal.jsonl":
        return {promise for promise in promised if promise[0] != run}
    if inside[0] == "weights":  # the best model of FULL, perhaps: its trial trains again
        return {promise for promise in promised if promise[:2] != (run, int(torn.stem))}
    return promised


def _windows(record: dict) -> Iterator[dict]:
    for phase in (record["tuning"], record["final"]):
        yield from (segment["measurement"] for segment in (phase or {}).get("segments", []))


def _in_one_go(record: dict, finished_at: float) -> bool:
    """Say whether one process searched, this result included: it outlived its Snakemake."""
    (window,) = (segment["measurement"] for segment in record["tuning"]["segments"])
    return 0.0 <= finished_at - window["started_at"] <= window["wall_seconds"]


def _check_segments(run: str, record: dict) -> None:
    """Check that no stretch of time is in two segments."""
    end = 0.0
    for window in _windows(record):
        assert window["started_at"] >= end - 0.5, f"{run}: segments overlap"
        end = window["started_at"] + window["wall_seconds"]


def test_broken_experiments_end_as_undisturbed_ones(
    undisturbed: Experiment, tmp_path: Path
) -> None:
    drill = Drill(tmp_path, undisturbed)

    drill.run()

    say(f"{dict(drill.hits)}, {drill.experiments} experiments")
    assert sum(drill.hits.values()) == FAULTS
    assert set(drill.hits) == set(VICTIMS)
