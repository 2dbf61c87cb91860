"""Energy of the processor and its memory: by RAPL's counters, else by a model of the load."""

from __future__ import annotations

import os
from functools import cache, partial
from pathlib import Path
from typing import Any

from pyJoules.device import rapl_device
from pyJoules.exception import PyJoulesException

from automata.metering.counters import Counter, Source, readable
from automata.metering.processes import ProcessTree
from automata.records.measurement import Channel

MICROJOULES = 1e-6

os.environ.setdefault("CODECARBON_LOG_LEVEL", "critical")  # read when codecarbon is imported


def rapl_counters(notes: list[str]) -> list[Counter]:
    """Open and return pyJoules' counters of all packages and their memory.

    The result is [] if one of them cannot be read; `notes` receives why.
    """
    root = Path(rapl_device.RAPL_API_DIR)
    try:
        domains = rapl_device.RaplDevice.available_domains()
    except PyJoulesException:
        notes.append(f"RAPL: no {root}")
        return []
    counters: list[Counter] = []
    kinds = rapl_device.RaplPackageDomain | rapl_device.RaplDramDomain  # cores are in the package
    needed = [domain for domain in domains if isinstance(domain, kinds)]
    for domain in needed:
        counters += readable(str(domain), notes, partial(_counter, root, domain))
    found = sum(counter.device == "cpu" for counter in counters)
    packages = [zone for zone in root.glob("intel-rapl:*") if _name(zone).startswith("package")]
    if found and found == len(packages) and len(counters) == len(needed):
        return counters
    notes.append(f"RAPL: {found} of {len(packages)} packages can be read, or memory cannot")
    return []


def _counter(root: Path, domain: Any) -> Counter:
    """Return pyJoules' counter of one domain, a package or its memory."""
    device = rapl_device.RaplDevice()
    device.configure([domain])
    zone = root / f"intel-rapl:{domain.socket}"
    is_package = isinstance(domain, rapl_device.RaplPackageDomain)
    if not is_package:
        (zone,) = [part for part in zone.glob("intel-rapl:*") if _name(part) == "dram"]
    return Counter(
        device="cpu" if is_package else "dram",
        domain=str(domain),
        source="pyJoules RAPL",
        read=lambda: float(device.get_energy()[0]),
        unit=MICROJOULES,
        modulus=float((zone / "max_energy_range_uj").read_text()) + 1,
    )


def _name(zone: Path) -> str:
    return (zone / "name").read_text().strip()


class LoadModel(Source):
    """codecarbon's model of the load: CPU seconds of `tree` times the watts of a busy thread.

    It adds no information to the CPU time, hence `estimated`.
    """

    def __init__(self, tree: ProcessTree) -> None:
        self._tree = tree
        self._watts: float | None = None

    def open(self) -> None:
        """Look up the watts; raises codecarbon's errors, or ImportError if it is missing."""
        self._watts = watts_per_thread()

    def channel(self) -> Channel:
        """Return the energy; its `joules` are None if the watts are unknown."""
        return Channel(
            device="cpu",
            domain="package",
            method="estimated",
            source="codecarbon CPU load",
            joules=None if self._watts is None else self._watts * self._tree.seconds,
            watts_per_thread=self._watts,
        )


@cache
def watts_per_thread() -> float:
    """Return what codecarbon assumes for one busy thread; takes a second once per process.

    It is the thermal design power of the processors divided by the threads of this machine, which
    is too much on a virtual machine with few of a processor's threads; or 4 W, if that is unknown.
    """
    from codecarbon.core import util
    from codecarbon.core.cpu import TDP
    from codecarbon.external.hardware import POWER_CONSTANT

    util.SLURM_JOB_ID = None  # else it asks scontrol, and counts the CPUs of the job alone
    tdp = TDP().tdp
    watts = POWER_CONSTANT if tdp is None else tdp * util.count_physical_cpus()
    return float(watts / util.count_cpus())
