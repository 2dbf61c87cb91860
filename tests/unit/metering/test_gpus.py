"""GPUs through pyJoules and NVML's functions: counters, and which ones count."""

from unittest.mock import Mock

import psutil
import pytest

from automata.allocation import visible_gpus
from automata.metering.gpus import gpu_sources, others_compute

UNSUPPORTED = "nvidia_gpu_0: NVMLError_NotSupported: Not Supported"


@pytest.mark.parametrize("uuid", ["GPU-1ABC", "1abc"])
def test_millijoules_of_the_gpus_asked_for_become_joules_however_a_uuid_is_written(gpus, uuid):
    # The release that follows pyJoules 0.5.1 multiplies by 1000, under the same version.
    gpus.millijoules = [0, 500, 0]
    (source,) = gpu_sources([uuid], [])
    gpus.millijoules = [7_000, 1_750, 9_000]
    source.update()
    channel = source.channel()
    assert (channel.domain, channel.joules) == ("nvidia_gpu_1", pytest.approx(1.25))
    labels = channel.device, channel.method, channel.source
    assert labels == ("gpu", "measured", "pyJoules NVML")


def test_slices_and_a_gpu_that_tells_nothing_are_left_out_with_the_reasons(gpus):
    gpus.millijoules, gpus.cut = [None, 0, 0], {1}
    notes = []
    (source,) = gpu_sources(gpus.uuids, notes)
    assert source.domain == "nvidia_gpu_2"
    slices = "nvidia_gpu_1: MIG: NVML does not count the energy of a slice"
    assert notes == [UNSUPPORTED, slices]


@pytest.mark.parametrize(
    ("visible", "expected"),
    [
        (None, ["0abc", "1abc", "2abc"]),
        ("", []),
        ("2,0", ["2abc", "0abc"]),
        ("1,7,0", ["1abc"]),  # CUDA ends the list at an entry that names no GPU
        ("GPU-2a", ["2abc"]),
    ],
)
def test_visible_gpus_are_those_that_cuda_is_left(gpus, monkeypatch, visible, expected):
    gpus.millijoules = [0, 0, 0]
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert visible_gpus() == expected


@pytest.mark.parametrize(
    ("pids", "clients", "other", "shared"),
    [
        ([7, 8], [], "python", False),
        ([7, 99], [], "python", True),
        ([7, 99], [], None, True),  # it has just ended
        ([99], [], "python", False),  # ours has not begun, or has another number in its container
        ([99], [7], "python", True),
        ([99], [7], "nvidia-cuda-mps-server", False),  # it computes for its clients
    ],
)
def test_a_gpu_is_shared_if_others_compute_beside_us(
    gpus, monkeypatch, pids, clients, other, shared
):
    named = Mock(side_effect=psutil.NoSuchProcess(99) if other is None else None)
    named.return_value.name.return_value = other
    monkeypatch.setattr(psutil, "Process", named)
    gpus.millijoules, gpus.pids, gpus.clients_of_mps = [0, 0], {0: pids, 1: [99]}, clients
    assert others_compute(gpus.uuids[:1], own={7, 8}) is shared
