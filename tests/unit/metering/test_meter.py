"""The metered window: energy by the best source, CPU time of the process tree, wall time."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import codecarbon.core.cpu
import psutil
import pytest
from codecarbon import OfflineEmissionsTracker
from codecarbon.core.hardware_cache import clear_cache

import automata.metering.meter
from automata.metering.measurement import Channel, Measurement
from automata.metering.meter import Meter

BURN = """
import time
while time.process_time() < 1.5:
    sum(range(10_000))
print(time.process_time())
"""


def meter(sample_seconds: float = 5.0, gpu: bool = False) -> Meter:
    return Meter(sample_seconds=sample_seconds, gpu=gpu, exclusive=False)


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


@pytest.fixture
def no_counters(rapl: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """No RAPL for pyJoules, nor for codecarbon."""
    monkeypatch.setattr(codecarbon.core.cpu, "is_rapl_available", lambda *_: False)
    clear_cache()  # what codecarbon found before
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
            reads = window._counters[0].reads
            rapl.set("0", count)
            while window._counters[0].reads < reads + 2:  # one may have been under way
                time.sleep(0.01)

    assert window.measurement.energy_joules == pytest.approx(24.0)
    assert window.measurement.channels[0].wraps == 2


def test_gpu_energy_is_added_to_that_of_the_processor(package: Any, gpus: Any) -> None:
    gpus.millijoules = [1_000]

    with meter(gpu=True) as window:
        package.set("0", 3_000_000)
        gpus.millijoules = [5_000]

    assert window.measurement.energy_joules == pytest.approx(2.0 + 4.0)
    assert window.measurement.energy_source == "pyJoules NVML + pyJoules RAPL"


def test_gpus_are_not_counted_unless_asked_for(package: Any, gpus: Any) -> None:
    gpus.millijoules = [1_000]

    with meter(gpu=False) as window:
        gpus.millijoules = [5_000]

    assert {part.device for part in window.measurement.channels} == {"cpu", "dram"}


def test_without_counters_the_energy_is_an_estimate_with_the_reason(no_counters: Any) -> None:
    with meter() as window:
        time.sleep(0.1)

    result = window.measurement
    assert result.energy_method == "estimated"
    assert result.energy_source == "codecarbon CPU load"
    assert f"RAPL: no {no_counters.root}" in result.notes


def test_codecarbon_without_a_result_gives_no_energy_and_a_note(
    no_counters: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = OfflineEmissionsTracker.stop

    def fail(tracker: OfflineEmissionsTracker) -> None:
        stop(tracker)
        tracker.final_emissions_data = None

    monkeypatch.setattr(OfflineEmissionsTracker, "stop", fail)

    with meter() as window:
        pass

    assert window.measurement.energy_joules is None
    assert window.measurement.energy_method is None
    assert "codecarbon: no result" in window.measurement.notes


def test_codecarbon_that_saw_another_window_gives_no_energy_and_a_note(
    no_counters: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = OfflineEmissionsTracker.stop

    def late(tracker: OfflineEmissionsTracker) -> None:
        stop(tracker)
        tracker.final_emissions_data.duration = 100.0

    monkeypatch.setattr(OfflineEmissionsTracker, "stop", late)

    with meter() as window:
        pass

    assert window.measurement.energy_joules is None
    assert any(note.startswith("codecarbon: measured 100.0 s") for note in window.measurement.notes)


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
    start = time.process_time()
    while time.process_time() < start + 0.3:
        sum(range(1_000))

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
    window = meter(gpu=True)
    with window:
        package.set("0", 3_000_000)

    assert window.measurement.energy_joules is None
