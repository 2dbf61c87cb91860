"""A window around work that nothing here can read."""

import time

from automata.metering.elsewhere import Stopwatch


def test_only_time_is_known_and_the_reason_why():
    watch = Stopwatch("it was far away")
    with watch:
        time.sleep(0.05)
    result = watch.measurement
    assert result.wall_seconds >= 0.05
    assert result.cpu_seconds is None
    assert result.host_busy_cpu_seconds is None
    assert result.energy_joules is None
    assert result.energy_method is None
    assert not result.exclusive
    assert (result.flags, result.notes) == (["elsewhere"], ["it was far away"])
