"""One window's energy, windows of one phase as a single account, earlier records."""

import pytest

from automata.records.measurement import Channel, Measurement, combined


def channel(joules, source="RAPL", method="measured", **changes):
    fields = {"device": "cpu", "domain": "package", "reads": 3, **changes}
    return Channel(source=source, method=method, joules=joules, **fields)


def window(start, wall, *channels, **changes):
    fields = {
        "started_at": start,
        "wall_seconds": wall,
        "cpu_seconds": wall / 2,
        "host_busy_cpu_seconds": wall,
        "host_cores": 2,
        "exclusive": True,
        "peak_memory_bytes": int(wall),
        "channels": list(channels),
        "notes": ["the same note"],
    }
    return Measurement(**{**fields, **changes})


@pytest.mark.parametrize(
    ("channels", "expected"),
    [
        ([], (None, None, None)),
        ([channel(0.0)], (0.0, "measured", "RAPL")),
        ([channel(2.0), channel(None, "NVML")], (None, None, None)),
        ([channel(2.0, "b"), channel(0.5, "a"), channel(1.0, "b")], (3.5, "measured", "a + b")),
        (
            [channel(2.0, "p"), channel(1.0, "load", "estimated")],
            (3.0, "estimated", "load + p"),
        ),
    ],
    ids=["no channel", "zero", "one unknown", "each source once", "the weakest method"],
)
def test_energy_is_the_sum_of_all_channels_by_the_weakest_method(channels, expected):
    found = window(0.0, 1.0, *channels)
    assert (found.energy_joules, found.energy_method, found.energy_source) == expected


def test_windows_of_one_phase_add_up_from_the_first_start():
    one, other = channel(3.0, wraps=1, resets=2, errors=3), channel(4.0, wraps=10, resets=20)
    whole = combined([window(5.0, 10.0, one), window(90.0, 30.0, other)])
    total = channel(7.0, reads=6, wraps=11, resets=22, errors=3)
    assert whole == window(5.0, 40.0, total, peak_memory_bytes=30)


def test_sources_and_estimates_at_different_watts_stay_apart():
    load = [channel(8.0, "load", "estimated", watts_per_thread=watts) for watts in (4.0, 100.0)]
    whole = combined([window(0.0, 1.0, part) for part in [channel(3.0), *load]])
    assert (whole.energy_joules, whole.energy_method) == (19.0, "estimated")
    assert whole.energy_source == (
        "RAPL + load at 100 W per busy thread + load at 4 W per busy thread"
    )


def test_energy_that_one_window_lacks_is_unknown():
    assert combined([]) is None
    assert combined([window(0, 1, channel(3.0)), window(2, 1, channel(None))]).energy_joules is None
    assert combined([window(0, 1, channel(3.0)), window(2, 1)]).energy_joules is None


def test_flags_of_a_window_are_flags_of_the_whole():
    shared = {"flags": ["contaminated", "short_window"], "exclusive": False, "host_cores": 4}
    whole = combined([window(0, 1, flags=["short_window"]), window(2, 1, **shared)])
    assert whole.flags == ["short_window", "contaminated"]
    assert not whole.exclusive
    assert whole.host_cores is None


def test_earlier_records_are_read_and_keep_their_bytes():
    earlier = channel(8.0).model_dump_json()
    assert "watts" not in earlier
    assert Channel.model_validate_json(earlier).model_dump_json() == earlier
    old = window(0, 1, second_opinion={"version": "3", "cpu_joules": 2.0})
    assert old.model_dump() == window(0, 1).model_dump()
