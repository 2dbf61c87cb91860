"""CPU time and memory of a process tree whose members come and go."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import suppress

import psutil


class ProcessTree:
    """CPU seconds and memory of this process and its descendants since `start`.

    The kernel loses the time of killed grandchildren, so the tree is sampled. When a member ends,
    its last sampled time stays in the sum. The tree misses the time between that sample and the
    end, and processes that end before `find` sees them. A living member stays one even under
    another parent, because Ray's workers outlive the process that started them.
    """

    def __init__(self) -> None:
        self._members = [psutil.Process()]
        self._finding = threading.Lock()
        # psutil compares start times too: a pid can be reused.
        self._baseline: dict[psutil.Process, float] = {}
        self._latest: dict[psutil.Process, float] = {}
        self.peak_memory_bytes = 0
        """Most memory in one sample: the members' own pages, and the largest shared part.

        Shared pages, such as those of libraries, count once.
        """

    def start(self) -> None:
        """Take the current times of all members as the baseline."""
        self.peak_memory_bytes = 0
        self._baseline = self._sample(self._members)
        self._latest = dict(self._baseline)

    def find(self) -> None:
        """Find new members; slow, because psutil looks at every process of the host."""
        with self._finding:  # an older result must not replace a newer one
            living = [member for member in self._members if member.is_running()]
            found = set(living)
            for top in _tops(living):
                with suppress(psutil.Error):  # it has ended
                    found.update(top.children(recursive=True))
            self._members = list(found)

    def update(self) -> None:
        """Sample all members."""
        self._latest.update(self._sample(self._members))

    def update_new(self) -> None:
        """Sample the members found since the latest sample only."""
        new = [member for member in self._members if member not in self._latest]
        self._latest.update(self._sample(new))

    @property
    def pids(self) -> set[int]:
        """The process numbers of the members."""
        return {member.pid for member in self._members}

    @property
    def seconds(self) -> float:
        """User and system seconds between `start` and the latest sample."""
        return sum(self._latest.values()) - sum(self._baseline.values())

    def _sample(self, members: Iterable[psutil.Process]) -> dict[psutil.Process, float]:
        times = {}
        own, shared = 0, 0
        for process in members:
            try:
                if not process.is_running():  # false if another process has its pid now
                    continue
                used, memory = process.cpu_times(), process.memory_info()
                times[process] = used.user + used.system
            except psutil.Error:  # ended, or not readable by this user
                continue
            part = getattr(memory, "shared", 0)  # on Linux only
            own += memory.rss - part
            shared = max(shared, part)
        self.peak_memory_bytes = max(self.peak_memory_bytes, own + shared)
        return times


def _tops(members: list[psutil.Process]) -> list[psutil.Process]:
    """Return the members whose parent is no member; there are several if a parent has ended."""
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
