"""The metered window: energy by the best source, CPU time of the process tree, wall time."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

import codecarbon.core.cpu
import psutil
import pytest

import automata.metering.meter
from automata.metering.counters import Counter
from automata.metering.measurement import Channel, Measurement, flags
from automata.metering.meter import Meter
from automata.metering.processes import ProcessTree
from automata.metering.processor import watts_per_thread

BURN = """
import time
while time.process_time() < 1.5:
    sum(range(10_000))
print(time.process_time(), flush=True)
"""


def meter(sample_seconds: float = 5.0, gpus: Sequence[str] = ()) -> Meter:
    return Meter(sample_seconds=sample_seconds, gpus=gpus, exclusive=False)


def burn(seconds: float) -> None:
    """Use so many CPU seconds."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(1_000))


def measurement(*channels: Channel) -> Measurement:
    return Measurement(
        started_at=0.0,
        wall_seconds=1.0,
        cpu_seconds=1.0,
        host_busy_cpu_seconds=1.0,
        exclusive=True,
        channels=list(channels),
        notes=[],
    )


def channel(device: Any, joules: float | None, method: Any = "measured") -> Channel:
    return Channel(device=device, domain="d", method=method, source=f"s {device}", joules=joules)


@pytest.fixture
def package(rapl: Any) -> Any:
    """One socket with a package and a DRAM counter, both at 1 J."""
    rapl.add("0", "package-0", start=1_000_000)
    rapl.add("0:0", "dram", start=1_000_000)
    return rapl


def test_joules_are_those_that_the_counters_moved_inside_the_window(package: Any) -> None:
    window = meter()
    package.set("0", 50_000_000)  # between construction and start: not counted

    with window:
        package.set("0", 57_000_000)
        package.set("0:0", 3_000_000)
    package.set("0", 99_000_000)

    result = window.measurement
    assert result.energy_joules == pytest.approx(7.0 + 2.0)
    assert result.energy_method == "measured"
    assert result.energy_source == "pyJoules RAPL"


def test_counter_that_wraps_twice_is_followed_between_the_ends_of_the_window(
    rapl: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(automata.metering.meter, "TREE_SAMPLE_SECONDS", 0.01)
    rapl.add("0", "package-0", start=0, limit=9_999_999)
    window = meter(sample_seconds=0.01)

    with window:
        for count in (8_000_000, 6_000_000, 4_000_000):  # 8 J each, through a range of 10 J
            reads = window._sources[0].reads
            rapl.set("0", count)
            while window._sources[0].reads < reads + 2:  # one may have been under way
                time.sleep(0.01)

    assert window.measurement.energy_joules == pytest.approx(24.0)
    assert window.measurement.channels[0].wraps == 2


def test_gpu_energy_is_added_to_that_of_the_processor(package: Any, gpus: Any) -> None:
    gpus.millijoules = [1_000]

    with meter(gpus=gpus.uuids) as window:
        package.set("0", 3_000_000)
        gpus.millijoules = [5_000]

    assert window.measurement.energy_joules == pytest.approx(2.0 + 4.0)
    assert window.measurement.energy_source == "pyJoules NVML + pyJoules RAPL"


def test_gpus_are_not_counted_unless_asked_for(package: Any, gpus: Any) -> None:
    gpus.millijoules = [1_000]

    with meter() as window:
        gpus.millijoules = [5_000]

    assert {part.device for part in window.measurement.channels} == {"cpu", "dram"}


def test_without_counters_the_energy_is_an_estimate_with_the_reason(rapl: Any) -> None:
    with meter() as window:
        burn(0.5)

    result, watts = window.measurement, watts_per_thread()
    assert result.energy_method == "estimated"
    assert result.energy_source == f"codecarbon CPU load at {watts:.3g} W per busy thread"
    assert result.energy_joules == pytest.approx(watts * result.cpu_seconds, rel=1e-9)
    assert result.cpu_seconds > 0.45
    assert result.channels[0].watts_per_thread == watts
    assert f"RAPL: no {rapl.root}" in result.notes


def test_processor_of_which_codecarbon_fails_leaves_the_energy_unknown(
    rapl: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise OSError("no /proc/cpuinfo")

    monkeypatch.setattr(codecarbon.core.cpu, "TDP", fail)
    watts_per_thread.cache_clear()
    with meter() as window:
        half = window.so_far()

    for account in (half, window.measurement):
        (cpu,) = account.channels
        assert (cpu.device, cpu.joules, account.energy_joules) == ("cpu", None, None)
        assert "codecarbon: OSError: no /proc/cpuinfo" in account.notes


def test_without_codecarbon_and_counters_the_energy_is_unknown(
    rapl: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    watts_per_thread.cache_clear()
    monkeypatch.setitem(sys.modules, "codecarbon.core.cpu", None)  # importing it fails now
    with meter() as window:
        pass
    assert window.measurement.energy_joules is None


def test_packages_that_pyjoules_does_not_know_are_read_by_codecarbon(
    rapl: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rapl.add("0", "package-0-die-0", start=1_000_000)
    with meter() as window:
        rapl.set("0", 8_000_000)
        first = window.so_far()
        rapl.set("0", 11_000_000)
        monkeypatch.setattr(ProcessTree, "find", lambda tree: rapl.set("0", 99_000_000))

    assert first.energy_joules == pytest.approx(7.0)
    assert window.measurement.energy_joules == pytest.approx(10.0)
    assert window.measurement.energy_source == "codecarbon RAPL"
    assert window.measurement.energy_method == "measured"
    assert "RAPL: 0 of 1 packages can be read" in window.measurement.notes


def test_exception_in_the_body_propagates_and_leaves_a_measurement(package: Any) -> None:
    window = meter()

    def body() -> None:
        with window:
            package.set("0", 3_000_000)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        body()

    assert window.measurement.energy_joules == pytest.approx(2.0)


def test_sampling_ends_with_the_window(package: Any) -> None:
    with meter(sample_seconds=0.01) as window:
        pass

    assert not window._sampler.is_alive()


def test_wall_seconds_are_those_of_the_body(package: Any) -> None:
    with meter() as window:
        start = time.perf_counter()
        time.sleep(0.3)
        expected = time.perf_counter() - start

    assert window.measurement.wall_seconds == pytest.approx(expected, rel=0.2)


def test_child_that_ran_and_ended_inside_the_window_counts(package: Any) -> None:
    own = psutil.Process()
    with meter() as window:
        before = own.cpu_times()
        child = subprocess.run([sys.executable, "-c", BURN], capture_output=True, check=True)
        after = own.cpu_times()

    own_seconds = after.user + after.system - before.user - before.system
    burnt = float(child.stdout)
    # What a child uses after the last sample (every 0.5 s) is missed.
    assert 0.5 < (window.measurement.cpu_seconds - own_seconds) / burnt < 1.2


def test_cpu_seconds_before_the_window_do_not_count(package: Any) -> None:
    burn(0.3)

    with meter() as window:
        pass

    assert window.measurement.cpu_seconds < 0.5 * 0.3


def test_energy_sums_the_channels() -> None:
    assert measurement(channel("cpu", 2.0), channel("dram", 0.5)).energy_joules == 2.5


def test_energy_is_none_when_a_channel_is_none() -> None:
    result = measurement(channel("cpu", 2.0), channel("gpu", None))

    assert (result.energy_joules, result.energy_method, result.energy_source) == (None, None, None)


def test_energy_without_channels_is_none() -> None:
    assert measurement().energy_joules is None


def test_energy_of_zero_joules_is_zero() -> None:
    assert measurement(channel("cpu", 0.0)).energy_joules == 0.0


def test_one_estimated_channel_makes_the_energy_estimated() -> None:
    result = measurement(channel("cpu", 2.0, "estimated"), channel("gpu", 1.0))

    assert result.energy_method == "estimated"


def test_sources_are_named_once_and_in_order() -> None:
    result = measurement(channel("gpu", 1.0), channel("cpu", 2.0), channel("cpu", 2.0))

    assert result.energy_source == "s cpu + s gpu"


def test_gpu_that_cannot_be_read_leaves_the_energy_unknown(package: Any, gpus: Any) -> None:
    gpus.millijoules = [None]
    window = meter(gpus=gpus.uuids)
    with window:
        package.set("0", 3_000_000)

    assert window.measurement.energy_joules is None


def test_one_gpu_of_two_that_cannot_be_read_leaves_the_energy_unknown(
    package: Any, gpus: Any
) -> None:
    gpus.millijoules = [1_000, None]
    with meter(gpus=gpus.uuids) as window:
        pass
    assert window.measurement.energy_joules is None


def test_polled_power_makes_the_energy_polled(package: Any, gpus: Any) -> None:
    gpus.millijoules, gpus.milliwatts = [None], 50_000
    with meter(gpus=gpus.uuids) as window:
        pass
    assert window.measurement.energy_method == "polled"
    assert window.measurement.energy_source == "NVML power + pyJoules RAPL"


def test_windows_side_by_side_both_count_the_machine(package: Any) -> None:
    with meter() as outer, meter() as inner:
        package.set("0", 11_000_000)
    assert outer.measurement.energy_joules == inner.measurement.energy_joules == 10.0


def test_without_codecarbon_counters_still_count(
    package: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "codecarbon.core.cpu", None)  # importing it fails now
    with meter() as window:
        package.set("0", 3_000_000)
    assert window.measurement.energy_joules == 2.0


@pytest.mark.parametrize(
    ("wall", "own", "busy", "expected"),
    [
        (20.0, 20.0, 20.0, []),
        (9.9, 9.0, 9.0, ["short_window"]),
        (20.0, 20.0, 24.1, ["contaminated"]),  # 4.1 of 40 CPU seconds
        (20.0, 20.0, 23.9, []),
        (20.0, 21.0, 20.0, []),  # more than the host had: clocks differ a little
    ],
)
def test_flags_say_what_is_doubtful(
    wall: float, own: float, busy: float, expected: list[str]
) -> None:
    assert flags(wall, own, busy, 2) == expected


@pytest.fixture
def ten_watts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that draws 10 W by the real clock."""

    def counters(notes: list[str]) -> list[Counter]:
        package = Counter("cpu", "package_0", "a clock", time.perf_counter, 10.0)
        package.open()
        return [package]

    monkeypatch.setattr(automata.metering.meter, "rapl_counters", counters)


@pytest.fixture
def slow_find(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host with so many processes that each look at them takes 0.3 s of CPU time."""
    find = ProcessTree.find

    def search(tree: ProcessTree) -> None:
        burn(0.3)
        find(tree)

    monkeypatch.setattr(ProcessTree, "find", search)


def test_energy_is_that_of_the_wall_time_however_long_it_takes_to_find_processes(
    ten_watts: None, slow_find: None
) -> None:
    with meter(sample_seconds=0.5) as window:
        time.sleep(1.0)
        half = window.so_far()
        time.sleep(1.0)

    for account in (half, window.measurement):
        assert account.energy_joules is not None
        assert account.energy_joules / account.wall_seconds == pytest.approx(10.0, rel=1e-3)


def test_wall_and_cpu_time_end_with_the_body(ten_watts: None, slow_find: None) -> None:
    window = meter()
    with window:
        start, used = time.perf_counter(), time.process_time()
        burn(1.0)
        wall, used = time.perf_counter() - start, time.process_time() - used

    # Ticks of the kernel are 0.01 s; what follows the body here takes 0.3 s and more.
    assert window.measurement.wall_seconds == pytest.approx(wall, abs=0.15)
    assert window.measurement.cpu_seconds == pytest.approx(used, abs=0.15)


def test_end_of_the_window_does_not_wait_for_an_account_that_is_being_made(
    ten_watts: None, slow_find: None
) -> None:
    accounts: list[Measurement] = []
    with meter() as window:
        start = time.perf_counter()
        asking = threading.Thread(target=lambda: accounts.append(window.so_far()))
        asking.start()
        time.sleep(0.1)  # it looks for processes now
        wall = time.perf_counter() - start
    asking.join()

    assert window.measurement.wall_seconds == pytest.approx(wall, abs=0.15)
    assert accounts[0].wall_seconds == window.measurement.wall_seconds


def test_gpu_counter_that_went_back_is_flagged(package: Any, gpus: Any) -> None:
    gpus.millijoules = [9_000]
    with meter(gpus=gpus.uuids) as window:
        gpus.millijoules = [1_000]
    assert "counter_reset" in window.measurement.flags


def test_foreign_load_is_seen(package: Any) -> None:
    # Children of another session are still ours: a process that init adopted before is not.
    wait = "import sys; sys.stdin.readline()\n" + BURN
    orphan = f"import os, sys, subprocess; subprocess.Popen([sys.executable, '-c', {wait!r}])"
    read, write = os.pipe()
    subprocess.run(
        [sys.executable, "-c", orphan], check=True, stdin=read, stdout=subprocess.DEVNULL
    )
    with meter() as window:
        os.write(write, b"\n")
        time.sleep(2.0)
    os.close(read)
    os.close(write)
    result = window.measurement
    assert result.host_busy_cpu_seconds - result.cpu_seconds > 1.0
    assert "contaminated" in result.flags


def test_workers_are_searched_for_less_often_where_that_costs_more(
    package: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(automata.metering.meter, "TREE_SAMPLE_SECONDS", 0.01)
    looks = []
    find = automata.metering.meter.ProcessTree.find

    def burn(tree: Any) -> None:
        looks.append(time.thread_time())
        while time.thread_time() - looks[-1] < 0.002:  # one second of 0.2 %
            pass
        find(tree)

    monkeypatch.setattr(automata.metering.meter.ProcessTree, "find", burn)
    with meter():
        time.sleep(1.5)
    assert len(looks) <= 4  # of 150; one each is at the start and at the end


def test_worker_that_ended_since_it_was_found_keeps_what_it_had() -> None:
    tree = ProcessTree()
    tree.start()
    child = subprocess.Popen(
        [sys.executable, "-c", BURN + "time.sleep(60)"], stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    child.stdout.readline()  # it has burnt its share
    tree.find()
    tree.update()
    child.kill()
    child.wait()
    tree.update()
    assert tree.seconds >= 1.4  # in ticks of the kernel


def test_account_of_an_open_window_grows_and_ends_in_the_whole(package: Any) -> None:
    with meter() as window:
        package.set("0", 3_000_000)
        first = window.so_far()
        package.set("0", 8_000_000)
        second = window.so_far()
        package.set("0", 11_000_000)

    assert [first.energy_joules, second.energy_joules] == pytest.approx([2.0, 7.0])
    assert window.measurement.energy_joules == pytest.approx(10.0)
    assert 0 < first.wall_seconds < second.wall_seconds < window.measurement.wall_seconds
    assert first.started_at == window.measurement.started_at
    assert window.so_far() is window.measurement


def test_estimated_account_of_an_open_window_follows_the_cpu_time(rapl: Any) -> None:
    def work(seconds: float) -> None:
        """Keep a core busy as torch does: codecarbon need not wait for the interpreter."""
        end = time.process_time() + seconds
        while time.process_time() < end:
            hashlib.pbkdf2_hmac("sha256", b"", b"", 50_000)

    with meter() as window:
        work(1.5)
        half = window.so_far()
        work(1.5)

    assert half.energy_method == "estimated"
    whole = window.measurement
    assert half.energy_joules is not None
    assert whole.energy_joules is not None
    share = half.energy_joules / whole.energy_joules
    assert share == pytest.approx(half.cpu_seconds / whole.cpu_seconds, rel=0.25)


def test_peak_memory_is_that_of_the_whole_tree(rapl: Any) -> None:
    hold = "import sys; held = bytearray(200 * 2**20); print(1, flush=True); sys.stdin.readline()"
    tree = ProcessTree()
    tree.start()
    tree.find()  # an earlier test of this process may have left it a child
    tree.update()
    before = tree.peak_memory_bytes
    children = [
        subprocess.Popen(
            [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for _ in range(2)
    ]
    for child in children:
        assert child.stdout is not None
        child.stdout.readline()
    tree.find()
    tree.update()
    for child in children:
        child.communicate(b"\n")
    tree.update()

    grown = (tree.peak_memory_bytes - before) / 2**20
    assert 400 <= grown < 500  # both, with their interpreters; it stays when they have ended


def test_worker_that_began_since_the_latest_look_is_no_other(
    gpus: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    monkeypatch.setattr(automata.metering.meter, "FINDING_SHARE", 1e-9)  # one look, then no more
    with subprocess.Popen(["sleep", "5"]) as late:
        gpus.millijoules, gpus.pids = [0], {0: [os.getpid(), late.pid]}
        window = Meter(sample_seconds=0.1, gpus=gpus.uuids, exclusive=True)
        window._tree.find = lambda find=window._tree.find: (looks.append(1), find())  # type: ignore
        window._check_sharing()
        late.kill()
    assert (looks, window._shared_gpu) == ([1], False)


def test_window_beside_others_on_its_gpu_is_flagged(gpus: Any) -> None:
    gpus.millijoules, gpus.pids = [0], {0: [os.getpid(), 1]}
    with Meter(sample_seconds=0.1, gpus=gpus.uuids, exclusive=True) as window:
        time.sleep(1.2)
    assert "shared_gpu" in window.measurement.flags


def test_real_counters_move_by_what_a_processor_can_draw() -> None:
    with meter() as window:
        burn(5.0)
    result = window.measurement
    if result.energy_method != "measured":
        pytest.skip(f"no counter can be read here: {'; '.join(result.notes)}")
    assert 1 < (result.energy_joules or 0) / result.wall_seconds < 2000
