"""GPUs through pyJoules and NVML's functions: counters, polling, and which ones count."""

from __future__ import annotations

import time
from typing import Any

import psutil
import pynvml
import pytest

from automata.metering import counters as module
from automata.metering.counters import Source
from automata.metering.gpus import (
    gpu_models,
    gpu_sources,
    others_compute,
    visible_gpus,
)


def joules(sources: list[Source]) -> dict[str, float | None]:
    """Read every source once more and return its joules by domain."""
    for source in sources:
        source.update()
    return {source.channel().domain: source.channel().joules for source in sources}


def test_millijoules_become_joules(gpus: Any) -> None:
    gpus.millijoules = [1_000, 500]
    sources = gpu_sources(gpus.uuids, [])

    gpus.millijoules = [4_500, 1_750]

    assert joules(sources) == pytest.approx({"nvidia_gpu_0": 3.5, "nvidia_gpu_1": 1.25})


def test_pyjoules_gives_what_nvml_counts(gpus: Any) -> None:
    # The release that follows 0.5.1 multiplies by 1000, under the same version.
    gpus.millijoules = [1_234]
    (source,) = gpu_sources(gpus.uuids, [])
    assert source.last[1] == pynvml.nvmlDeviceGetTotalEnergyConsumption(0)


def test_channel_names_its_source(gpus: Any) -> None:
    gpus.millijoules = [0]
    (source,) = gpu_sources(gpus.uuids, [])
    channel = source.channel()
    assert (channel.device, channel.method, channel.source) == ("gpu", "measured", "pyJoules NVML")


@pytest.mark.parametrize("uuid", ["GPU-1ABC", "1abc", "GPU-1abc"])
def test_only_gpus_asked_for_count_however_their_uuid_is_written(gpus: Any, uuid: str) -> None:
    gpus.millijoules = [0, 0, 0]
    sources = gpu_sources([uuid], [])
    gpus.millijoules = [7_000, 2_000, 9_000]
    assert joules(sources) == pytest.approx({"nvidia_gpu_1": 2.0})


def test_counter_that_goes_backwards_is_flagged_and_counts_nothing_for_that_step(gpus: Any) -> None:
    gpus.millijoules = [5_000]
    sources = gpu_sources(gpus.uuids, [])
    gpus.millijoules = [7_000]  # 2 J
    sources[0].update()
    gpus.millijoules = [100]  # the driver was loaded again
    sources[0].update()
    gpus.millijoules = [1_100]  # 1 J

    assert joules(sources) == pytest.approx({"nvidia_gpu_0": 3.0})
    assert (sources[0].channel().resets, sources[0].channel().wraps) == (1, 0)


def test_gpu_without_a_counter_is_polled_with_the_reason(
    gpus: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 0.0, 0.0, 2.0, 6.0])
    monkeypatch.setattr(module.time, "perf_counter", lambda: next(clock))  # first: no counter
    gpus.millijoules, gpus.milliwatts = [None], 100_000
    notes: list[str] = []
    (source,) = gpu_sources(gpus.uuids, notes)
    source.start()
    gpus.milliwatts = 200_000
    source.update()  # 2 s at 150 W on average
    assert joules([source]) == {"nvidia_gpu_0": 2 * 150 + 4 * 200}
    channel = source.channel()
    assert (channel.method, channel.source, channel.reads) == ("polled", "NVML power", 2)
    assert notes == ["nvidia_gpu_0: NVMLError_NotSupported: Not Supported"]


def test_failed_poll_is_bridged(gpus: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.0, 0.0, 1.0, 3.0])
    monkeypatch.setattr(module.time, "perf_counter", lambda: next(clock))  # first: no counter
    gpus.millijoules, gpus.milliwatts = [None], 100_000
    (source,) = gpu_sources(gpus.uuids, [])
    source.start()
    gpus.milliwatts = None
    source.update()
    assert source.channel().joules is None  # nothing is known of the end of the window
    gpus.milliwatts = 100_000
    assert joules([source]) == {"nvidia_gpu_0": 300.0}
    assert source.channel().errors == 1


def test_polling_follows_real_time(gpus: Any) -> None:
    gpus.millijoules, gpus.milliwatts = [None], 100_000
    (source,) = gpu_sources(gpus.uuids, [])
    start = time.perf_counter()
    source.start()
    for _ in range(5):
        time.sleep(0.02)
        source.update()
    seconds = time.perf_counter() - start
    assert source.channel().joules == pytest.approx(100 * seconds, rel=0.02)


def test_gpu_that_tells_nothing_is_refused_with_both_reasons(gpus: Any) -> None:
    gpus.millijoules = [None]
    notes: list[str] = []
    assert gpu_sources(gpus.uuids, notes) == []
    assert notes == ["nvidia_gpu_0: NVMLError_NotSupported: Not Supported"] * 2


def test_machine_without_a_driver_has_no_sources_and_a_note(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_driver() -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

    monkeypatch.setattr(pynvml, "nvmlInit", no_driver)
    notes: list[str] = []
    assert gpu_sources(["GPU-1"], notes) == []
    assert notes == ["NVML: NVMLError_LibraryNotFound: NVML Shared Library Not Found"]
    assert (visible_gpus(), gpu_models([])) == ([], [])


@pytest.mark.parametrize(
    ("visible", "expected"),
    [
        (None, ["0abc", "1abc", "2abc"]),
        ("", []),
        ("-1", []),
        ("2,0", ["2abc", "0abc"]),
        ("1,7,0", ["1abc"]),  # CUDA ends the list at an entry that names no GPU
        ("GPU-2a", ["2abc"]),
    ],
)
def test_visible_gpus_are_those_that_cuda_is_left(
    gpus: Any, monkeypatch: pytest.MonkeyPatch, visible: str | None, expected: list[str]
) -> None:
    gpus.millijoules = [0, 0, 0]
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert visible_gpus() == expected


def test_slices_of_a_gpu_have_no_energy(gpus: Any) -> None:
    gpus.millijoules, gpus.cut = [0, 0], {0}
    notes: list[str] = []
    (source,) = gpu_sources(gpus.uuids, notes)
    assert source.channel().domain == "nvidia_gpu_1"
    assert notes == ["nvidia_gpu_0: MIG: NVML does not count the energy of a slice"]


@pytest.mark.parametrize(
    ("pids", "shared"),
    [
        ([], False),
        ([7], False),
        ([7, 8], False),
        ([7, 99], True),
        ([99], False),  # ours has not begun, or has another number in its container
    ],
)
def test_a_gpu_is_shared_if_others_compute_beside_us(
    gpus: Any, pids: list[int], shared: bool
) -> None:
    gpus.millijoules, gpus.pids = [0, 0], {0: pids, 1: [99]}
    assert others_compute([gpus.uuid(0)], own={7, 8}) == shared


def test_the_server_of_mps_is_no_other(gpus: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    gpus.millijoules, gpus.pids, gpus.clients_of_mps = [0], {0: [99]}, [7]
    monkeypatch.setattr(psutil, "Process", lambda pid: Named("nvidia-cuda-mps-server"))
    assert not others_compute(gpus.uuids, own={7})
    monkeypatch.setattr(psutil, "Process", lambda pid: Named("python"))
    assert others_compute(gpus.uuids, own={7})


class Named:
    """A process that has a name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def name(self) -> str:
        return self._name
