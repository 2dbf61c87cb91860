"""CPU time and memory of a process tree whose members come and go."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import suppress

import psutil


class ProcessTree:
    """What this process and its descendants use since `start`: CPU seconds, and memory at once.

    Kernel accounting loses the time of killed grandchildren, so the tree is sampled: each
    member's last seen time stays in the sum after its end. What a process uses between the
    last sample and its end is missed, and one that nobody found in its life is missed whole.
    A member remains one while it lives, whoever its parent is by then: Ray's workers outlive
    the process that started them, and what they deliver is kept.
    """

    def __init__(self) -> None:
        self._members = [psutil.Process()]
        self._finding = threading.Lock()
        # A pid can be reused: these are equal if their start times are, too.
        self._baseline: dict[psutil.Process, float] = {}
        self._latest: dict[psutil.Process, float] = {}
        self.peak_memory_bytes = 0
        """Most memory at one look: what each member has for itself, and the largest share.

        Pages that processes share, such as libraries, count once, as the largest such part.
        """

    def start(self) -> None:
        """Take the times so far, of the members that were found, as the baseline."""
        self.peak_memory_bytes = 0
        self._baseline = self._sample(self._members)
        self._latest = dict(self._baseline)

    def find(self) -> None:
        """Find new members: this looks at every process of the host."""
        with self._finding:  # an older look must not take the place of a newer one
            living = [member for member in self._members if member.is_running()]
            found = set(living)
            for top in _tops(living):
                with suppress(psutil.Error):  # ended by now
                    found.update(top.children(recursive=True))
            self._members = list(found)

    def update(self) -> None:
        """Look at the members again."""
        self._latest.update(self._sample(self._members))

    def update_new(self) -> None:
        """Look at the members that were found since the latest look, and at no other."""
        new = [member for member in self._members if member not in self._latest]
        self._latest.update(self._sample(new))

    @property
    def pids(self) -> set[int]:
        """The members by now."""
        return {member.pid for member in self._members}

    @property
    def seconds(self) -> float:
        """User and system seconds between `start` and the latest look."""
        return sum(self._latest.values()) - sum(self._baseline.values())

    def _sample(self, members: Iterable[psutil.Process]) -> dict[psutil.Process, float]:
        times = {}
        own, shared = 0, 0
        for process in members:
            try:
                if not process.is_running():  # nor is another one that has its pid by now
                    continue
                used, memory = process.cpu_times(), process.memory_info()
                times[process] = used.user + used.system
            except psutil.Error:  # ended, or not ours to look at
                continue
            part = getattr(memory, "shared", 0)  # Linux alone tells
            own += memory.rss - part
            shared = max(shared, part)
        self.peak_memory_bytes = max(self.peak_memory_bytes, own + shared)
        return times


def _tops(members: list[psutil.Process]) -> list[psutil.Process]:
    """Return the members whose parent is none: one, unless some have outlived their parent."""
    pids = {member.pid for member in members}
    tops = []
    for member in members:
        with suppress(psutil.Error):
            if member.ppid() not in pids:
                tops.append(member)
    return tops


def host_busy_seconds() -> float:
    """Return the busy CPU seconds of all cores since boot."""
    times = psutil.cpu_times()
    parts = ("user", "nice", "system", "irq", "softirq", "steal")
    return float(sum(getattr(times, part, 0.0) for part in parts))
