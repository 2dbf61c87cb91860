"""A RAPL tree and GPUs that exist only in the test, read through the real pyJoules."""

from types import SimpleNamespace

import pynvml
import pytest
from pyJoules.device import rapl_device

from automata.allocation import MPS_PROCESSES

INTEL_RANGE_UJ = 262_143_328_850


class FakeRapl:
    """A tree of counters like that of /sys/class/powercap/intel-rapl."""

    def __init__(self, root):
        self.root = root

    def energy_file(self, zone):
        package = self.root / f"intel-rapl:{zone.partition(':')[0]}"
        return (package / f"intel-rapl:{zone}" if ":" in zone else package) / "energy_uj"

    def add(self, zone, name, start=0, limit=INTEL_RANGE_UJ):
        """Add zone "0" (a package) or "0:1" (a part of package 0)."""
        folder = self.energy_file(zone).parent
        folder.mkdir(parents=True)
        (folder / "name").write_text(f"{name}\n")
        (folder / "max_energy_range_uj").write_text(f"{limit}\n")
        self.set(zone, start)

    def set(self, zone, microjoules):
        """Set a counter, never leaving its file empty for a reader to see."""
        written = self.energy_file(zone).with_name("written")
        written.write_text(f"{microjoules}\n")
        written.replace(self.energy_file(zone))


class FakeGpus:
    """GPUs, as many as `millijoules` has counters; None is a GPU without one."""

    def __init__(self):
        self.millijoules = []
        self.pids = {}  # GPU -> the processes that compute on it
        self.clients_of_mps = []
        self.cut = set()  # GPUs in slices of MIG

    @property
    def uuids(self):
        return [f"GPU-{index}ABC" for index in range(len(self.millijoules))]


def supported(value):
    if value is None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
    return value


def processes(pids):
    return [SimpleNamespace(pid=pid) for pid in pids]


@pytest.fixture
def rapl(tmp_path, monkeypatch):
    """Give an empty tree; without a zone added its folder does not exist."""
    root = tmp_path / "intel-rapl"
    monkeypatch.setattr(rapl_device, "RAPL_API_DIR", str(root))
    return FakeRapl(root)


@pytest.fixture
def gpus(monkeypatch):
    """Give a machine whose driver knows the GPUs of `millijoules`."""
    fake = FakeGpus()
    functions = {
        "nvmlInit": lambda: None,
        "nvmlDeviceGetCount": lambda: len(fake.millijoules),
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetUUID": lambda handle: fake.uuids[handle],
        "nvmlDeviceGetTotalEnergyConsumption": lambda handle: supported(fake.millijoules[handle]),
        "nvmlDeviceGetComputeRunningProcesses": lambda handle: processes(fake.pids.get(handle, [])),
        MPS_PROCESSES: lambda handle: processes(fake.clients_of_mps),
        "nvmlDeviceGetMigMode": lambda handle: (handle in fake.cut, 0),
    }
    for name, function in functions.items():
        monkeypatch.setattr(pynvml, name, function)
    return fake
