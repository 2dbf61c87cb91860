"""CPU time and memory of a process tree whose members come and go."""

from __future__ import annotations

import psutil


class ProcessTree:
    """What this process and its descendants use since `open`: CPU seconds, and memory at once.

    Kernel accounting loses the time of killed grandchildren, so the tree is sampled: each
    member's last seen time stays in the sum after its end. What a process uses between the
    last sample and its end is missed, and one that nobody found in its life is missed whole.
    """

    def __init__(self) -> None:
        self._root = psutil.Process()
        self._members: list[psutil.Process] = []
        self._baseline: dict[tuple[int, float], float] = {}
        self._latest: dict[tuple[int, float], float] = {}
        self.peak_memory_bytes = 0
        """Most memory at one look: what each member has for itself, and the largest share.

        Pages that processes share, such as libraries, count once, as the largest such part.
        """

    def open(self) -> None:
        """Take the times so far as the baseline."""
        self.find()
        self.peak_memory_bytes = 0
        self._baseline = self._sample()
        self._latest = dict(self._baseline)

    def find(self) -> None:
        """Find the members of the tree: this looks at every process of the host."""
        self._members = [self._root, *self._root.children(recursive=True)]

    def update(self) -> None:
        """Look at the members again."""
        self._latest.update(self._sample())

    @property
    def seconds(self) -> float:
        """User and system seconds between `open` and the latest `update`."""
        return sum(self._latest.values()) - sum(self._baseline.values())

    def _sample(self) -> dict[tuple[int, float], float]:
        times = {}
        own, shared = 0, 0
        for process in self._members:
            try:
                used, memory = process.cpu_times(), process.memory_info()
                # A pid can be reused; with its start time it names one process.
                times[process.pid, process.create_time()] = used.user + used.system
            except psutil.Error:  # ended, or not ours to look at
                continue
            part = getattr(memory, "shared", 0)  # Linux alone tells
            own += memory.rss - part
            shared = max(shared, part)
        self.peak_memory_bytes = max(self.peak_memory_bytes, own + shared)
        return times


def host_busy_seconds() -> float:
    """Return the busy CPU seconds of all cores since boot."""
    times = psutil.cpu_times()
    parts = ("user", "nice", "system", "irq", "softirq", "steal")
    return float(sum(getattr(times, part, 0.0) for part in parts))
