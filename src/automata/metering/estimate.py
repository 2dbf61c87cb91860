"""codecarbon, offline: CPU energy where there are no counters."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import Any, NamedTuple

from automata.metering.measurement import JOULES_PER_KWH, Channel


class Estimate(NamedTuple):
    """What codecarbon says of a window."""

    hardware: str
    cpu_joules: float
    watts_per_thread: float | None
    """Of the load model, None where it read RAPL."""


class Codecarbon:
    """codecarbon's figures for this process tree: by RAPL if it can, else by a load model.

    The load model is CPU seconds times a share of the processor's thermal design power: it
    says nothing that CPU time does not, hence `estimated`.
    """

    def __init__(self, sample_seconds: float) -> None:
        """Make the tracker; raise ImportError where codecarbon is not installed."""
        self._tracker = _offline_tracker(sample_seconds)
        self._counted = self._baseline = 0.0

    def open(self) -> None:
        """Start codecarbon, which takes a while."""
        self._tracker.start()

    def start(self) -> None:
        """Begin to count."""
        self.update()
        self._baseline = self._counted

    def update(self) -> None:
        """Read RAPL; the load model is left to itself: it looks at every process of the host."""
        if _watts_per_thread(self._tracker._hardware) is None:
            with suppress(Exception):  # as codecarbon does itself: the window must go on
                self._tracker._measure_power_and_energy()
            self._counted = self._tracker._total_cpu_energy.kWh

    def close(self, wall_seconds: float, notes: list[str]) -> Estimate | None:
        """End the window; None, with a note, where codecarbon failed, which it does silently."""
        self._tracker.stop()
        data = getattr(self._tracker, "final_emissions_data", None)
        if data is None:
            notes.append("codecarbon: no result")
            return None
        if abs(data.duration - wall_seconds) > 0.5 + 0.02 * wall_seconds:
            notes.append(f"codecarbon: measured {data.duration:.1f} s of {wall_seconds:.1f} s")
            return None
        return self._estimate()

    def so_far(self) -> Estimate | None:
        """Return what there is by now of a window that stays open; None where nothing is read."""
        # None: it did not find its hardware, and says so to nobody.
        return None if self._tracker._start_time is None else self._estimate()

    def _estimate(self) -> Estimate:
        return Estimate(
            hardware=" ".join(self._tracker._conf.get("hardware", [])),
            cpu_joules=(self._counted - self._baseline) * JOULES_PER_KWH,
            watts_per_thread=_watts_per_thread(self._tracker._hardware),
        )


def cpu_channel(estimate: Estimate | None, cpu_seconds: float) -> Channel:
    """Return the CPU's energy by codecarbon, with no joules if there is no estimate.

    Its load model is applied to the `cpu_seconds` that were seen: codecarbon's own count has
    another window, and loses processes that are short or outlive their parent.
    """
    watts = estimate.watts_per_thread if estimate else None
    if estimate is not None and watts is None:
        return Channel(
            device="cpu",
            domain="package",
            method="measured",
            source="codecarbon RAPL",
            joules=estimate.cpu_joules,
        )
    return Channel(
        device="cpu",
        domain="package",
        method="estimated",
        source="codecarbon CPU load" if estimate else "codecarbon",
        joules=None if watts is None else watts * cpu_seconds,
    )


def find_hardware() -> Estimate | None:
    """Return what codecarbon finds of the hardware, which takes seconds once per process."""
    tracker = Codecarbon(sample_seconds=60)
    tracker.open()
    found = tracker.so_far()
    tracker.close(0.0, [])
    return found


def _offline_tracker(sample_seconds: float) -> Any:
    os.environ.setdefault("CODECARBON_LOG_LEVEL", "critical")  # it logs before it reads log_level
    from codecarbon import OfflineEmissionsTracker
    from codecarbon.core.resource_tracker import ResourceTracker

    turn = threading.Lock()

    class Hardware(ResourceTracker):  # type: ignore[misc]
        """Blind to GPUs: `gpu_ids` only says which count, and one that refuses ends all."""

        def set_GPU_tracking(self) -> None:  # noqa: N802
            """Leave them to NVML."""

    class Tracker(OfflineEmissionsTracker):  # type: ignore[misc]
        """Blind to codecarbon's configuration files and environment variables."""

        _external_conf = property(lambda self: {}, lambda self, found: None)

        def _initialize_hardware_tracking(self) -> None:
            Hardware(self).set_CPU_GPU_ram_tracking()
            self._conf["hardware"] = [part.description() for part in self._hardware]

        def _measure_power_and_energy(self) -> None:
            """Do so once at a time: its own thread and ours would count a stretch twice."""
            with turn:
                super()._measure_power_and_energy()

    # The country only sets CO2, which is not read.
    return Tracker(
        country_iso_code="USA",
        tracking_mode="process",
        measure_power_secs=sample_seconds,
        output_methods=[],
        log_level="critical",
        allow_multiple_runs=True,
        force_mode_cpu_load=False,
        pue=1.0,
        gpu_ids=[],
    )


def _watts_per_thread(hardware: list[Any]) -> float | None:
    """Return what the load model takes for one thread at work, None where RAPL is read."""
    for part in hardware:
        if hasattr(part, "_tdp"):
            return None if part._mode == "intel_rapl" else float(part._tdp) / part._cpu_count
    return None
