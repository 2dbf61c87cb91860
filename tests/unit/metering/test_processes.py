"""The process tree of a window: who belongs to it, and until when."""

from types import SimpleNamespace

import psutil

from automata.metering.processes import ProcessTree, host_busy_seconds


def test_process_that_has_the_pid_of_a_member_that_ended_is_not_ours():
    tree = ProcessTree()
    tree.find()
    tree.start()
    other = psutil.Process().parent()
    ended = psutil.Process(other.pid)
    ended._ident = (other.pid, 0.0)  # it started at another time
    tree._members = [ended, *tree._members]
    assert list(tree._sample([ended, psutil.Process()])) == [psutil.Process()]
    tree.find()
    assert {ended, other}.isdisjoint(tree._members)


def test_niced_and_stolen_seconds_of_the_host_are_busy_and_waiting_ones_are_not(monkeypatch):
    times = {"user": 1, "nice": 2, "system": 4, "irq": 8, "softirq": 16, "steal": 32}
    times |= {"idle": 100, "iowait": 200, "guest": 1, "guest_nice": 2}  # guests are in user, nice
    monkeypatch.setattr(psutil, "cpu_times", lambda: SimpleNamespace(**times))
    assert host_busy_seconds() == 63
