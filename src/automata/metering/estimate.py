"""CPU energy without readable pyJoules counters: codecarbon, offline."""

from __future__ import annotations

import os
from typing import Literal

from automata.metering.measurement import Channel

JOULES_PER_KWH = 3.6e6

os.environ.setdefault("CODECARBON_LOG_LEVEL", "critical")  # it logs before it reads log_level
from codecarbon import OfflineEmissionsTracker  # noqa: E402


class CpuEstimate:
    """codecarbon's figure for this process tree: RAPL if it can, else a load model.

    The load model is CPU seconds times a share of the processor's thermal design power: it
    says nothing that CPU time does not, hence `estimated`.
    """

    def __init__(self, sample_seconds: float) -> None:
        # Every parameter that matters is passed: what is not can be changed by a file or an
        # environment variable of codecarbon's. The country only sets CO2, which is not read.
        self._tracker = OfflineEmissionsTracker(
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

    def open(self) -> None:
        """Start the window."""
        self._tracker.start()

    def close(self, wall_seconds: float, notes: list[str]) -> Channel:
        """End the window; the energy is None, with a note, where codecarbon failed silently."""
        self._tracker.stop()
        data = getattr(self._tracker, "final_emissions_data", None)
        if data is None:
            notes.append("codecarbon: no result")
            return _channel(None, "estimated", "codecarbon")
        if abs(data.duration - wall_seconds) > 0.5 + 0.02 * wall_seconds:
            notes.append(f"codecarbon: measured {data.duration:.1f} s of {wall_seconds:.1f} s")
            return _channel(None, "estimated", "codecarbon")
        joules = data.cpu_energy * JOULES_PER_KWH
        hardware = " ".join(self._tracker._conf.get("hardware", []))
        if "rapl" in hardware.lower():
            return _channel(joules, "measured", "codecarbon RAPL")
        notes.append(f"codecarbon: {hardware}")
        return _channel(joules, "estimated", "codecarbon CPU load")


def find_hardware() -> None:
    """Let codecarbon look at the hardware, which takes seconds once per process."""
    estimate = CpuEstimate(sample_seconds=60)
    estimate.open()
    estimate.close(0.0, [])


def _channel(
    joules: float | None, method: Literal["measured", "estimated"], source: str
) -> Channel:
    return Channel(device="cpu", domain="package", method=method, source=source, joules=joules)
