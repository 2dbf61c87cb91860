"""Windows of one phase, as a single account."""

from automata.metering.measurement import Channel, Measurement, combined


def channel(joules, source="RAPL", **changes):
    fields = {"device": "cpu", "domain": "package", "method": "measured", "reads": 3}
    return Channel(**{**fields, "source": source, "joules": joules, **changes})


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


def test_of_nothing_there_is_no_account():
    assert combined([]) is None


def test_single_window_is_its_own_account():
    only = window(5.0, 10.0)
    assert combined([only]) is only


def test_times_and_energies_add_up_from_the_first_start():
    whole = combined([window(5.0, 10.0, channel(3.0)), window(90.0, 30.0, channel(4.0))])
    assert (whole.started_at, whole.wall_seconds, whole.cpu_seconds) == (5.0, 40.0, 20.0)
    assert whole.host_busy_cpu_seconds == 40.0
    assert (whole.energy_joules, whole.energy_method) == (7.0, "measured")
    assert [(c.joules, c.reads) for c in whole.channels] == [(7.0, 6)]
    assert whole.peak_memory_bytes == 30
    assert whole.notes == ["the same note"]


def test_what_befell_a_counter_adds_up():
    windows = [
        window(0.0, 1.0, channel(3.0, wraps=1, resets=2, errors=3)),
        window(2.0, 1.0, channel(4.0, wraps=10, resets=20, errors=30)),
    ]
    (whole,) = combined(windows).channels
    assert (whole.wraps, whole.resets, whole.errors) == (11, 22, 33)


def test_sources_that_differ_stay_apart_and_the_weakest_method_counts():
    whole = combined(
        [
            window(0.0, 1.0, channel(3.0)),
            window(2.0, 1.0, channel(4.0, "load", method="estimated")),
        ]
    )
    assert (whole.energy_joules, whole.energy_method) == (7.0, "estimated")
    assert whole.energy_source == "RAPL + load"


def test_energy_that_one_window_lacks_is_unknown():
    assert combined([window(0, 1, channel(3.0)), window(2, 1, channel(None))]).energy_joules is None


def test_doubts_about_a_window_are_doubts_about_the_whole():
    whole = combined(
        [
            window(0, 1, flags=["short_window"]),
            window(2, 1, flags=["contaminated", "short_window"], exclusive=False, host_cores=4),
        ]
    )
    assert whole.flags == ["short_window", "contaminated"]
    assert not whole.exclusive
    assert whole.host_cores is None


def test_second_opinion_of_earlier_records_is_read_and_left_out():
    old = window(0, 1, second_opinion={"version": "3", "cpu_joules": 2.0})
    assert old.model_dump() == window(0, 1).model_dump()


def test_estimates_at_different_watts_stay_apart():
    estimates = [channel(8.0, "load", method="estimated", watts_per_thread=w) for w in (4.0, 100.0)]
    whole = combined([window(0, 1, estimates[0]), window(2, 1, estimates[1])])
    assert whole.energy_joules == 16.0
    assert whole.energy_source == ("load at 100 W per busy thread + load at 4 W per busy thread")


def test_channel_of_an_earlier_record_keeps_its_bytes():
    earlier = channel(8.0).model_dump_json()
    assert "watts" not in earlier
    assert Channel.model_validate_json(earlier).model_dump_json() == earlier
