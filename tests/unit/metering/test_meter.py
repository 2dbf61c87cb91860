"""The metered window: energy by the best source, CPU time of the process tree, wall time, turns."""

import logging
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from types import SimpleNamespace

import codecarbon.core.cpu
import psutil
import pytest

from automata.errors import UserError
from automata.metering import meter as module
from automata.metering.counters import Counter
from automata.metering.meter import Meter, exclusive_host, flags, host_lock_path
from automata.metering.processes import ProcessTree
from automata.metering.processor import watts_per_thread
from support.outliving import Worker


def meter(sample_seconds=5.0, gpus=()):
    return Meter(sample_seconds=sample_seconds, gpus=gpus, exclusive=False)


def wait_until(condition):
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def _no_samples(monkeypatch):
    """Read sources at the ends of a window alone, where a test does not change that."""
    monkeypatch.setattr(module, "TREE_SAMPLE_SECONDS", 3600.0)


class Clock:
    """Wall time that a test moves; this process works for half of it."""

    now = 1000.0

    def move(self, seconds):
        """Return the time after so many seconds."""
        self.now += seconds
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """The clock of the meter. A reading of a source takes 1 s, a look at all processes 10 s."""
    moved = Clock()

    def cpu_times(_=None):
        return SimpleNamespace(user=moved.move(1) / 2, system=0.0)

    names = ("time", "perf_counter", "monotonic")
    stopped = SimpleNamespace(**dict.fromkeys(names, lambda: moved.now))
    monkeypatch.setattr(module, "time", stopped)
    monkeypatch.setattr(psutil.Process, "cpu_times", cpu_times)
    monkeypatch.setattr(psutil, "cpu_times", cpu_times)
    monkeypatch.setattr(ProcessTree, "find", lambda tree: moved.move(10))
    return moved


ZONES = {"0": "package-0", "0:0": "core", "0:1": "dram"}
ZONES |= {"1": "package-1", "1:0": "uncore", "1:1": "dram"}
"""The memory of a package is outside of it, other parts are inside."""


@pytest.fixture
def package(rapl):
    """Two sockets, whose counters are all at 1 J."""
    for zone, name in ZONES.items():
        rapl.add(zone, name, start=1_000_000)
    return rapl


# Energy


def test_joules_are_the_increments_of_packages_and_memory_inside_the_window(package, monkeypatch):
    monkeypatch.setitem(sys.modules, "codecarbon.core.cpu", None)  # no counter needs it
    window = meter()
    package.set("0", 50_000_000)  # between construction and start: not counted

    def body():
        with window:
            for zone, joules in zip(ZONES, (57, 4, 3, 9, 6, 2), strict=True):
                package.set(zone, joules * 1_000_000)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        body()
    package.set("0", 99_000_000)

    result = window.measurement
    joules = {(channel.device, channel.domain): channel.joules for channel in result.channels}
    packages = {("cpu", "package_0"): 7.0, ("cpu", "package_1"): 8.0}
    assert joules == pytest.approx(packages | {("dram", "dram_0"): 2.0, ("dram", "dram_1"): 1.0})
    assert (result.energy_joules, result.notes) == (pytest.approx(18.0), [])
    assert (result.energy_method, result.energy_source) == ("measured", "pyJoules RAPL")
    assert not window._sampler.is_alive()


def test_counter_that_wraps_twice_is_followed_between_the_ends_of_the_window(rapl, monkeypatch):
    monkeypatch.setattr(module, "TREE_SAMPLE_SECONDS", 0.01)
    rapl.add("0", "package-0", start=0, limit=9_999_999)
    window = meter(sample_seconds=0.01)
    with window:
        for count in (8_000_000, 6_000_000, 4_000_000):  # 8 J each, through a range of 10 J
            reads = window._sources[0].reads
            rapl.set("0", count)
            # One may have been under way.
            wait_until(lambda before=reads: window._sources[0].reads >= before + 2)

    assert window.measurement.energy_joules == pytest.approx(24.0)
    assert window.measurement.channels[0].wraps == 2


@pytest.mark.parametrize(
    ("before", "after", "joules"),
    [
        ([1_000, 2_000], [5_000, 3_000], 7.0),
        ([1_000, 9_000], [5_000, 3_000], 6.0),
        ([1_000, None], [5_000, None], None),
    ],
    ids=["counters", "one went back", "one unknown"],
)
def test_energy_of_all_gpus_asked_for_is_added_or_the_sum_is_unknown(
    package, gpus, before, after, joules
):
    gpus.millijoules = before
    with meter(gpus=gpus.uuids) as window:
        package.set("0", 3_000_000)
        gpus.millijoules = after
    result = window.measurement
    source = "pyJoules NVML + pyJoules RAPL" if joules else None
    assert (result.energy_joules, result.energy_source) == (joules, source)
    assert ("counter_reset" in result.flags) is (before[1] == 9_000)


def test_without_counters_the_energy_is_an_estimate_by_the_cpu_time_with_the_reason(rapl, clock):
    with meter() as window:
        clock.move(2)
        half = window.so_far()
        clock.move(2)

    watts = watts_per_thread()
    for account, seconds in ((half, 7), (window.measurement, 9)):
        assert account.energy_method == "estimated"
        assert account.energy_source == f"codecarbon CPU load at {watts:.3g} W per busy thread"
        assert account.cpu_seconds == seconds
        assert account.energy_joules == pytest.approx(watts * seconds, rel=1e-9)
        assert f"RAPL: no {rapl.root}" in account.notes
    assert window.measurement.channels[0].watts_per_thread == watts
    assert window.measurement.peak_memory_bytes > 2**24


def test_where_codecarbon_fails_and_there_are_no_counters_the_energy_is_unknown(rapl, monkeypatch):
    def fail():
        raise OSError("no /proc/cpuinfo")

    monkeypatch.setattr(codecarbon.core.cpu, "TDP", fail)
    watts_per_thread.cache_clear()
    with meter() as window:
        half = window.so_far()

    for account in (half, window.measurement):
        (cpu,) = account.channels
        assert (cpu.device, cpu.joules, account.energy_joules) == ("cpu", None, None)
        assert "codecarbon: OSError: no /proc/cpuinfo" in account.notes


def test_the_watts_of_a_thread_are_the_same_in_a_slurm_job(tmp_path, monkeypatch):
    monkeypatch.setattr(codecarbon.core.cpu, "TDP", lambda: SimpleNamespace(tdp=205.0))
    outside = watts_per_thread.__wrapped__()  # without the cache
    monkeypatch.setattr(codecarbon.core.util, "SLURM_JOB_ID", "17")
    (tmp_path / "scontrol").write_text("#!/bin/sh\necho NumCPUs=4096\n")
    (tmp_path / "scontrol").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert watts_per_thread.__wrapped__() == outside


# Time


def test_energy_wall_and_cpu_time_are_those_of_the_body_however_long_looks_and_readings_take(
    clock, monkeypatch
):
    package = Counter("cpu", "package_0", "a clock", lambda: clock.move(1), 10.0)
    package.open()
    monkeypatch.setattr(module, "rapl_counters", lambda notes: [package])
    with meter() as window:
        start = clock.now
        clock.move(30)
        half = window.so_far()
        clock.move(5)
        body = clock.now - start

    # The readings at one end of the window belong to it: CPU, host and package.
    for account, seconds in ((half, 30 + 10 + 3), (window.measurement, body + 3)):
        assert account.wall_seconds == seconds
        assert account.energy_joules == 10 * seconds
        assert account.cpu_seconds == account.host_busy_cpu_seconds == seconds / 2
        assert account.started_at == start - 3
    assert window.so_far() is window.measurement


def test_worker_counts_from_the_start_of_the_window_until_it_ends(package, monkeypatch):
    monkeypatch.setattr(module, "TREE_SAMPLE_SECONDS", 0.01)
    worker = Worker()
    before = worker.burn(0.5)
    with meter() as window:
        start = time.process_time()
        after = worker.burn(0.5)
        wait_until(lambda: window._tree._latest[worker.process] > after - 0.02)
        worker.process.kill()
        worker.starter.communicate()
        own = time.process_time() - start
    assert window.measurement.cpu_seconds - own == pytest.approx(after - before, abs=0.1)


@pytest.mark.parametrize(("cost", "looks"), [(0.0, 20), (0.0025, 7), (0.025, 1)])
def test_workers_are_searched_for_less_often_where_that_costs_more(rapl, monkeypatch, cost, looks):
    """A look of 0.0025 s is 0.2 % of 1.25 s; by a clock of the test, a look is due each 0.5 s."""
    made, past, window = [], [0.0], meter()
    clock = SimpleNamespace(monotonic=lambda: past[-1], thread_time=lambda: cost * len(made))
    window._stop.wait = lambda seconds: past.append(past[-1] + seconds) or past[-1] > 10
    monkeypatch.setattr(ProcessTree, "find", lambda tree: made.append(tree))
    monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(module, "TREE_SAMPLE_SECONDS", 0.5)
    window._sample()
    assert len(made) == looks


def test_window_beside_others_on_its_gpu_is_flagged(gpus, monkeypatch):
    monkeypatch.setattr(module, "TREE_SAMPLE_SECONDS", 0.01)
    gpus.millijoules, gpus.pids = [0], {0: [os.getpid(), 1]}
    with meter(sample_seconds=0.0, gpus=gpus.uuids) as window:
        wait_until(lambda: window._shared_gpu)
    assert "shared_gpu" in window.measurement.flags
    with subprocess.Popen(["sleep", "600"]) as late:
        gpus.pids, alone = {0: [os.getpid(), late.pid]}, meter(gpus=gpus.uuids)
        alone._check_sharing()
        late.kill()
    assert not alone._shared_gpu  # it is a new worker of ours


# Turns on a host; how a killed holder is followed is tested in test_locks


@pytest.fixture
def own_lock(tmp_path, monkeypatch):
    """Give the path of a lock file under `tmp_path`, which this process uses too."""
    path = tmp_path / host_lock_path().name
    monkeypatch.setattr(module, "host_lock_path", lambda: path)
    return path


def test_second_holder_waits_for_the_first_also_if_that_one_fails(own_lock, caplog):
    caplog.set_level(logging.INFO, "automata.locks")
    waits = []

    def ask():
        with exclusive_host(True) as waited:
            waits.append(waited)

    asking = threading.Thread(target=ask, daemon=True)
    with suppress(FileNotFoundError), exclusive_host(True) as waited:
        asking.start()
        wait_until(lambda: caplog.messages)
        assert (waited, waits) == (0, [])
        raise FileNotFoundError  # it is not taken for one of the lock's file
    asking.join(60)
    assert caplog.messages[0].startswith("waiting for another measured job of this host: process ")
    assert waits[0] > 0


def test_lock_file_is_open_to_all_users(own_lock):
    before = os.umask(0o077)
    try:
        with exclusive_host(True):
            mode = own_lock.stat().st_mode & 0o777
    finally:
        os.umask(before)
    assert mode == 0o666


def test_lock_that_cannot_be_opened_is_a_users_error(own_lock):
    own_lock.symlink_to("nowhere")
    message = f"^{own_lock}: .*: measured jobs of this host .* set metering.exclusive: false"
    with pytest.raises(UserError, match=message):
        exclusive_host(True).__enter__()


@pytest.mark.parametrize(
    ("wall", "own", "busy", "expected"),
    [
        (20.0, 20.0, 20.0, []),
        (9.9, 9.0, 9.0, ["short_window"]),
        (20.0, 20.0, 24.1, ["contaminated"]),  # 4.1 of 40 CPU seconds
        (20.0, 20.0, 23.9, []),
    ],
)
def test_flags_say_what_is_doubtful(wall, own, busy, expected):
    assert flags(wall, own, busy, 2) == expected
