"""The process tree of a window: who belongs to it, and until when."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace

import psutil
import pytest

from automata.metering.processes import ProcessTree
from outliving import Worker, worker


@pytest.fixture
def tree() -> ProcessTree:
    """Give a tree that has started."""
    tree = ProcessTree()
    tree.find()
    tree.start()
    return tree


@pytest.fixture
def outliving() -> Iterator[Worker]:
    """Give a worker, whose parent lives yet."""
    with worker() as process:
        yield process


def test_worker_that_outlives_its_parent_counts_on(tree: ProcessTree, outliving: Worker) -> None:
    tree.find()
    outliving.orphan()
    tree.find()
    burnt = outliving.burn(1.0)
    tree.find()
    tree.update()

    assert tree.seconds > 0.95 * burnt


def test_what_such_a_worker_starts_counts_as_well(tree: ProcessTree, outliving: Worker) -> None:
    tree.find()
    outliving.orphan()
    tree.find()
    another = outliving.start_another()
    tree.find()

    assert {outliving.process, another} <= set(tree._members)


def test_process_that_has_the_pid_of_a_member_that_ended_is_not_ours(tree: ProcessTree) -> None:
    other = psutil.Process().parent()
    assert other is not None
    ended = psutil.Process(other.pid)
    ended._ident = (other.pid, 0.0)  # it started at another time
    tree._members = [*tree._members, ended]

    tree.update()
    tree.find()

    assert ended not in tree._latest
    assert {ended, other}.isdisjoint(tree._members)


def test_process_is_found_once_however_often_it_is_looked_for(
    tree: ProcessTree, outliving: Worker
) -> None:
    for _ in range(3):
        tree.find()

    pids = [member.pid for member in tree._members]
    assert [pids.count(outliving.starter.pid), pids.count(outliving.process.pid)] == [1, 1]


def test_new_members_alone_are_looked_at_after_the_end(
    tree: ProcessTree, outliving: Worker
) -> None:
    end = time.process_time() + 0.3
    while time.process_time() < end:
        sum(range(10_000))
    outliving.burn(0.5)
    starter = psutil.Process(outliving.starter.pid)
    started = sum(sum(process.cpu_times()[:2]) for process in (starter, outliving.process))

    tree.find()
    tree.update_new()

    assert tree.seconds == pytest.approx(started, abs=0.05)


class Sized:
    """A process of so many bytes, of which it shares some with others."""

    def __init__(self, rss: int, shared: int) -> None:
        self.memory = SimpleNamespace(rss=rss, shared=shared)

    def is_running(self) -> bool:
        return True

    def cpu_times(self) -> SimpleNamespace:
        return SimpleNamespace(user=0.0, system=0.0)

    def memory_info(self) -> SimpleNamespace:
        return self.memory


def test_memory_that_processes_share_counts_once(tree: ProcessTree) -> None:
    """By hand: 70 and 30 of their own, and the larger of 30 and 20."""
    tree.peak_memory_bytes = 0
    tree._sample([Sized(100, 30), Sized(50, 20)])  # type: ignore[list-item]
    assert tree.peak_memory_bytes == 130
    tree._sample([Sized(100, 30)])  # type: ignore[list-item]
    assert tree.peak_memory_bytes == 130
