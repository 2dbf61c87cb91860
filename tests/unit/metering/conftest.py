"""A RAPL tree and GPUs that exist only in the test, read through the real pyJoules."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pynvml
import pytest
from pyJoules.device import rapl_device

from automata.metering.gpus import MPS_PROCESSES

INTEL_RANGE_UJ = 262_143_328_850


class FakeRapl:
    """A tree of counters like that of /sys/class/powercap/intel-rapl."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def add(self, zone: str, name: str, start: int = 0, limit: int = INTEL_RANGE_UJ) -> None:
        """Add zone "0" (a package) or "0:1" (a part of package 0)."""
        folder = self._folder(zone)
        folder.mkdir(parents=True)
        (folder / "name").write_text(f"{name}\n")
        (folder / "max_energy_range_uj").write_text(f"{limit}\n")
        self.set(zone, start)

    def energy_file(self, zone: str) -> Path:
        return self._folder(zone) / "energy_uj"

    def set(self, zone: str, microjoules: int) -> None:
        """Set a counter, never leaving its file empty for a reader to see."""
        written = self._folder(zone) / "written"
        written.write_text(f"{microjoules}\n")
        os.replace(written, self.energy_file(zone))  # noqa: PTH105 - the one that is atomic

    def _folder(self, zone: str) -> Path:
        package = self.root / f"intel-rapl:{zone.partition(':')[0]}"
        return package if ":" not in zone else package / f"intel-rapl:{zone}"


class FakeGpus:
    """Energy counters of GPUs in millijoules; None is a GPU without one.

    `milliwatts` is the power of those that tell it, None of those that tell nothing; `pids` are
    the processes that compute on them, `clients_of_mps` those of its server, and `cut` are GPUs in
    MIG's slices.
    """

    def __init__(self) -> None:
        self.millijoules: list[int | None] = []
        self.milliwatts: int | None = None
        self.pids: dict[int, list[int]] = {}
        self.clients_of_mps: list[int] = []
        self.cut: set[int] = set()

    @property
    def uuids(self) -> list[str]:
        return [self.uuid(index) for index in range(len(self.millijoules))]

    def uuid(self, index: int) -> str:
        return f"GPU-{index}ABC"

    def power(self, handle: int) -> int:
        if self.milliwatts is None:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
        return self.milliwatts

    def processes(self, handle: int) -> list[SimpleNamespace]:
        return [SimpleNamespace(pid=pid) for pid in self.pids.get(handle, [])]

    def clients(self, handle: int) -> list[SimpleNamespace]:
        return [SimpleNamespace(pid=pid) for pid in self.clients_of_mps]

    def total(self, handle: int) -> int:
        count = self.millijoules[handle]
        if count is None:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
        return count


@pytest.fixture
def rapl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeRapl:
    """Give an empty tree; without a zone added its folder does not exist."""
    root = tmp_path / "intel-rapl"
    monkeypatch.setattr(rapl_device, "RAPL_API_DIR", str(root))
    return FakeRapl(root)


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> FakeGpus:
    """Give a machine whose driver knows the GPUs of `millijoules`."""
    fake = FakeGpus()
    monkeypatch.setattr(pynvml, "nvmlInit", lambda: None)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetCount", lambda: len(fake.millijoules))
    monkeypatch.setattr(pynvml, "nvmlDeviceGetHandleByIndex", lambda index: index)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetUUID", fake.uuid)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetTotalEnergyConsumption", fake.total)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetPowerUsage", fake.power)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetComputeRunningProcesses", fake.processes)
    monkeypatch.setattr(pynvml, MPS_PROCESSES, fake.clients)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetMigMode", lambda handle: (handle in fake.cut, 0))
    return fake
