"""Counters through the real pyJoules: units, wrap-around, gaps, and what is refused."""

from __future__ import annotations

import builtins
import hashlib
import time
from types import SimpleNamespace
from typing import Any

import codecarbon.core.cpu
import codecarbon.core.util
import pytest
from codecarbon import OfflineEmissionsTracker

from automata.metering.counters import Reader
from automata.metering.processor import rapl_counters, watts_per_thread

AMD_RANGE_UJ = 65_532_610_987


def joules(counters: list[Reader]) -> dict[str, float | None]:
    """Read every counter once more and return its joules by domain."""
    for counter in counters:
        counter.update()
    return {counter.domain: counter.channel().joules for counter in counters}


@pytest.fixture
def two_sockets(rapl: Any) -> Any:
    """Two sockets, each with a core, an uncore and a DRAM part, all counters at 1 J."""
    for socket in ("0", "1"):
        rapl.add(socket, f"package-{socket}", start=1_000_000)
        rapl.add(f"{socket}:0", "core", start=1_000_000)
        rapl.add(f"{socket}:1", "uncore", start=1_000_000)
        rapl.add(f"{socket}:2", "dram", start=1_000_000)
    return rapl


@pytest.fixture
def one_socket(rapl: Any) -> Any:
    """One socket with AMD's short range, its counter 2 J before the wrap."""
    rapl.add("0", "package-0", start=AMD_RANGE_UJ + 1 - 2_000_000, limit=AMD_RANGE_UJ)
    return rapl


def test_joules_of_two_sockets_are_package_and_dram_without_the_parts_of_a_package(
    two_sockets: Any,
) -> None:
    counters = rapl_counters([])

    two_sockets.set("0", 6_000_000)  # 5 J, of which 3 J in the cores and 1 J in the uncore
    two_sockets.set("0:0", 4_000_000)
    two_sockets.set("0:1", 2_000_000)
    two_sockets.set("0:2", 1_250_000)  # 0.25 J, outside of the package
    two_sockets.set("1", 8_000_000)  # 7 J
    two_sockets.set("1:0", 5_000_000)
    two_sockets.set("1:1", 2_000_000)
    two_sockets.set("1:2", 1_500_000)  # 0.5 J

    assert joules(counters) == pytest.approx(
        {"package_0": 5.0, "package_1": 7.0, "dram_0": 0.25, "dram_1": 0.5}
    )


def test_dram_is_a_device_of_its_own(two_sockets: Any) -> None:
    counters = rapl_counters([])

    assert {counter.domain: counter.device for counter in counters} == {
        "package_0": "cpu",
        "package_1": "cpu",
        "dram_0": "dram",
        "dram_1": "dram",
    }


def test_readable_counters_leave_no_note(two_sockets: Any) -> None:
    notes: list[str] = []

    rapl_counters(notes)

    assert notes == []


def test_counter_that_wraps_goes_on_from_its_range(one_socket: Any) -> None:
    counters = rapl_counters([])

    one_socket.set("0", 3_000_000)  # 2 J up to the wrap and 3 J after it

    assert joules(counters) == pytest.approx({"package_0": 5.0})
    assert counters[0].wraps == 1


def test_counter_that_wraps_to_zero_has_moved_one_past_its_range(rapl: Any) -> None:
    rapl.add("0", "package-0", start=999, limit=999)
    counters = rapl_counters([])

    rapl.set("0", 0)

    assert joules(counters) == pytest.approx({"package_0": 1e-6})


def test_several_wraps_with_reads_in_between_are_all_counted(one_socket: Any) -> None:
    (counter,) = rapl_counters([])

    # From 2 J before the wrap: half a range each time, so that every second read has wrapped.
    half = 32_766_000_000
    start, modulus = AMD_RANGE_UJ + 1 - 2_000_000, AMD_RANGE_UJ + 1
    for step in range(1, 8):
        one_socket.set("0", (start + step * half) % modulus)
        counter.update()

    assert counter.channel().joules == pytest.approx(7 * 32_766.0)
    # 7 x 32766 J after a start of 65530.6 J is 294892.6 J: four ranges of 65532.6 J and a rest.
    assert counter.wraps == 4


def test_failed_read_loses_nothing(one_socket: Any) -> None:
    (counter,) = rapl_counters([])
    hidden = one_socket.energy_file("0").rename(one_socket.root / "hidden")

    counter.update()
    hidden.rename(one_socket.energy_file("0"))
    one_socket.set("0", 3_000_000)

    assert joules([counter]) == pytest.approx({"package_0": 5.0})
    assert (counter.reads, counter.errors) == (1, 1)


def test_empty_counter_file_is_a_failed_read(one_socket: Any) -> None:
    (counter,) = rapl_counters([])

    one_socket.energy_file("0").write_text("")
    counter.update()

    assert (counter.reads, counter.errors) == (0, 1)


def test_counter_that_was_never_read_again_has_no_joules(one_socket: Any) -> None:
    (counter,) = rapl_counters([])

    one_socket.energy_file("0").unlink()

    assert joules([counter]) == {"package_0": None}


def test_counter_that_may_not_be_read_is_refused_with_the_reason(
    one_socket: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    opener = builtins.open

    def refuse(file: Any, *arguments: Any, **options: Any) -> Any:
        if str(file).endswith("energy_uj"):  # root reads it whatever its mode
            raise PermissionError(13, "Permission denied", str(file))
        return opener(file, *arguments, **options)

    monkeypatch.setattr(builtins, "open", refuse)
    notes: list[str] = []

    assert rapl_counters(notes) == []
    assert "package_0: PermissionError" in notes[0]
    assert str(one_socket.energy_file("0")) in notes[0]
    assert notes[-1] == "codecarbon RAPL: OSError: no package can be read"


def test_machine_without_a_tree_has_no_counters_and_a_note(rapl: Any) -> None:
    notes: list[str] = []

    assert rapl_counters(notes) == []
    assert notes == [f"RAPL: no {rapl.root}"]


def test_packages_that_pyjoules_knows_in_part_are_all_read_by_codecarbon(rapl: Any) -> None:
    rapl.add("0", "package-0", start=1_000_000, limit=9_999_999)
    rapl.add("1", "package-1-die-0", start=9_000_000, limit=9_999_999)
    notes: list[str] = []
    (counter,) = rapl_counters(notes)

    rapl.set("0", 3_000_000)
    rapl.set("1", 4_000_000)  # through its range of 10 J
    assert joules([counter]) == pytest.approx({"package": 7.0})
    assert (counter.channel().source, notes) == (
        "codecarbon RAPL",
        ["RAPL: 1 of 2 packages can be read"],
    )


def test_counter_that_fails_at_the_end_gives_no_energy(rapl: Any) -> None:
    rapl.add("0", "package-0")
    (counter,) = rapl_counters([])

    rapl.set("0", 1_000_000)
    counter.update()
    rapl.energy_file("0").unlink()
    counter.update()

    assert counter.channel().joules is None
    assert counter.channel().errors == 1


def test_failed_read_at_the_start_keeps_the_earlier_baseline(rapl: Any) -> None:
    rapl.add("0", "package-0")
    (counter,) = rapl_counters([])

    rapl.energy_file("0").unlink()
    counter.start()
    rapl.set("0", 2_000_000)
    counter.update()

    assert counter.channel().joules == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("tdp", "watts"),
    [
        (280.0, 280 * 2 / 128),  # two sockets of 64 threads
        (None, 85 / 128),  # codecarbon's own guess for a processor without a name
    ],
)
def test_busy_thread_takes_its_share_of_the_processors(
    monkeypatch: pytest.MonkeyPatch, tdp: float | None, watts: float
) -> None:
    monkeypatch.setattr(codecarbon.core.cpu, "TDP", lambda: SimpleNamespace(tdp=tdp))
    monkeypatch.setattr(codecarbon.core.util, "count_physical_cpus", lambda: 2)
    monkeypatch.setattr(codecarbon.core.util, "count_cpus", lambda: 128)
    assert watts_per_thread.__wrapped__() == watts


def test_watts_are_those_of_codecarbons_own_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codecarbon.core.cpu, "is_rapl_available", lambda *_: False)
    tracker = OfflineEmissionsTracker(
        country_iso_code="USA", tracking_mode="process", output_methods=[], log_level="critical"
    )
    tracker.start_task()
    before = time.process_time()
    while time.process_time() < before + 2:  # hashing lets codecarbon's thread run
        hashlib.pbkdf2_hmac("sha256", b"", b"", 50_000)
    used = time.process_time() - before
    joules = tracker.stop_task().cpu_energy * 3.6e6
    assert joules == pytest.approx(watts_per_thread() * used, rel=0.1)
