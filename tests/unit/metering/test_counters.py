"""Counters through the real pyJoules: wrap-around, gaps, and what is refused."""

from types import SimpleNamespace
from unittest.mock import Mock

import codecarbon.core.cpu
import codecarbon.core.util
import pytest

from automata.metering.counters import Counter
from automata.metering.processor import rapl_counters, watts_per_thread


@pytest.mark.parametrize(
    ("readings", "expected"),
    [
        ([2, OSError, 5], (3.0, 1, 1)),  # joules, reads, errors
        ([2, 3, ValueError], (None, 1, 1)),
        ([OSError, 5], (5.0, 1, 1)),  # from what was read as it was opened
    ],
    ids=["in between", "at the end", "at the start"],
)
def test_a_failed_read_loses_nothing_unless_it_is_the_last(readings, expected):
    read = Mock(side_effect=[0, *readings])
    counter = Counter("cpu", "package_0", "a test", read, unit=1.0)
    counter.open()
    counter.start()
    for _ in readings[1:]:
        counter.update()
    channel = counter.channel()
    assert (channel.joules, channel.reads, channel.errors) == expected


@pytest.mark.parametrize(
    ("zones", "unreadable", "reasons"),
    [
        ({"0": "package-0"}, ["0"], ["package_0: IsADirectoryError", "0 of 1"]),
        ({"0": "package-0", "0:0": "dram"}, ["0:0"], ["dram_0: IsADirectoryError", "1 of 1"]),
        ({"0": "package-0", "1": "package-1-die-0"}, [], ["1 of 2"]),  # pyJoules knows no dies
    ],
)
def test_packages_that_can_be_read_in_part_are_refused_with_the_reason(
    rapl, zones, unreadable, reasons
):
    for zone, name in zones.items():
        rapl.add(zone, name)
    for zone in unreadable:
        rapl.energy_file(zone).unlink()
        rapl.energy_file(zone).mkdir()  # root reads a file whatever its mode
    notes = []
    assert rapl_counters(notes) == []
    *unread, packages = reasons
    assert notes[-1] == f"RAPL: {packages} packages can be read, or memory cannot"
    for note, reason in zip(notes[:-1], unread, strict=True):
        assert note.startswith(reason)


@pytest.mark.parametrize(
    ("tdp", "watts"),
    [
        (280.0, 280 * 2 / 128),  # of two sockets
        (None, 85 / 128),  # codecarbon's own guess for a processor without a name
    ],
)
def test_a_busy_thread_takes_its_share_of_the_processors(monkeypatch, tdp, watts):
    monkeypatch.setattr(codecarbon.core.cpu, "TDP", lambda: SimpleNamespace(tdp=tdp))
    monkeypatch.setattr(codecarbon.core.util, "count_physical_cpus", lambda: 2)
    monkeypatch.setattr(codecarbon.core.util, "count_cpus", lambda: 128)
    assert watts_per_thread.__wrapped__() == watts
