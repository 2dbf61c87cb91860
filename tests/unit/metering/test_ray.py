"""CPU time of Ray's workers belongs to the job that started them."""

import time

import pytest
import ray

from automata.metering.meter import Meter

pytestmark = [pytest.mark.xdist_group("ray"), pytest.mark.usefixtures("session_ray")]


def test_cpu_time_of_workers_counts():
    @ray.remote
    def burn(seconds):
        while time.process_time() < seconds:
            sum(range(10_000))
        return time.process_time()

    idle = ray.get(burn.remote(0))  # the worker has started
    with Meter(sample_seconds=5, gpus=[], exclusive=False) as meter:
        used = ray.get(burn.remote(idle + 2)) - idle
        time.sleep(1.0)
    assert meter.measurement.cpu_seconds > 0.95 * used
