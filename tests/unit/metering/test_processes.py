"""The process tree of a window: who belongs to it, and until when."""

import time
from types import SimpleNamespace
from unittest.mock import Mock

import psutil
import pytest
import ray

from automata.metering.meter import Meter
from automata.metering.processes import ProcessTree
from support.outliving import worker


@pytest.fixture
def tree():
    """Give a tree that has started."""
    tree = ProcessTree()
    tree.find()
    tree.start()
    return tree


@pytest.fixture
def outliving():
    """Give a worker, whose parent lives yet."""
    with worker() as process:
        yield process


def test_worker_that_outlives_its_parent_counts_on_with_what_it_starts(tree, outliving):
    tree.find()
    outliving.orphan()
    tree.find()
    burnt = outliving.burn(1.0)
    another = outliving.start_another()
    tree.find()
    tree.update()

    assert tree.seconds > 0.95 * burnt
    pids = [member.pid for member in tree._members]
    assert [pids.count(outliving.process.pid), pids.count(another.pid)] == [1, 1]


def test_process_that_has_the_pid_of_a_member_that_ended_is_not_ours(tree):
    other = psutil.Process().parent()
    ended = psutil.Process(other.pid)
    ended._ident = (other.pid, 0.0)  # it started at another time
    tree._members = [ended, *tree._members]
    assert list(tree._sample([ended, psutil.Process()])) == [psutil.Process()]
    tree.find()
    assert {ended, other}.isdisjoint(tree._members)


def sized(rss, shared):
    """Return a process of so many bytes, of which it shares some with others."""
    memory, times = SimpleNamespace(rss=rss, shared=shared), SimpleNamespace(user=0.0, system=0.0)
    return Mock(cpu_times=lambda: times, memory_info=lambda: memory)


def test_memory_that_processes_share_counts_once(tree):
    """By hand: 70 and 30 of their own, and the larger of 30 and 20. The peak stays."""
    tree.peak_memory_bytes = 0
    tree._sample([sized(100, 30), sized(50, 20)])
    tree._sample([sized(100, 30)])
    assert tree.peak_memory_bytes == 130


@pytest.mark.xdist_group("ray")
@pytest.mark.usefixtures("session_ray")
def test_cpu_time_of_rays_workers_counts():
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
