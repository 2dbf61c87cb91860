"""The process tree of a window: who belongs to it, and until when."""

import psutil

from automata.metering.processes import ProcessTree


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
