"""The device of a job, and what makes one seed one outcome on it."""

from __future__ import annotations

import os
import platform
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from automata.config.sections import Compute
from automata.errors import UserError
from automata.metering import gpus
from automata.training.device import choose_device, gpus_in_use, seen, take_device

CPU, CUDA = torch.device("cpu"), torch.device("cuda")
KINDS = ["tabular", "text", "image"]


def chosen(kind: str = "image", **compute: Any) -> torch.device:
    return choose_device(Compute.model_validate(compute), kind)


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host with a V100, whose driver is older than its torch."""
    monkeypatch.setattr(torch, "__version__", "2.13.0")
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Tesla V100")
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (7, 0))
    monkeypatch.setattr(gpus, "gpu_models", lambda notes: ["Tesla V100, driver 570.1"] * 2)
    monkeypatch.setattr(platform, "node", lambda: "node3")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


@pytest.fixture
def no_gpu(host: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host without its GPU."""
    monkeypatch.setattr(gpus, "gpu_models", lambda notes: [])


@pytest.fixture
def gpu(host: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host with a driver for its torch."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: False)
    monkeypatch.setattr(torch.backends.cudnn, "deterministic", False)
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", True)
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", "")
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG")


@pytest.mark.parametrize("name", ["auto", "cpu"])
@pytest.mark.parametrize("kind", KINDS)
def test_without_a_gpu_it_is_the_cpu(no_gpu: None, name: str, kind: str) -> None:
    assert chosen(kind, device=name) == CPU


def test_gpu_that_is_not_there_is_refused(no_gpu: None) -> None:
    with pytest.raises(UserError, match=r"^compute\.device: cuda: torch sees no GPU here"):
        chosen(device="cuda")


UNUSABLE = (
    "NVML knows Tesla V100, driver 570.1, which torch 2.13.0 (CUDA 13.0) cannot use: update the "
    "driver or install a torch for it (docs/gpu.md), or set compute.device: cpu"
)


@pytest.mark.parametrize(("kind", "name"), [("text", "auto"), ("image", "auto"), ("image", "cuda")])
def test_gpu_that_torch_cannot_use_is_one_line(host: None, kind: str, name: str) -> None:
    with pytest.raises(UserError) as error:
        chosen(kind, device=name)
    assert str(error.value) == f"compute.device: {name}: {UNUSABLE}"


def test_torch_without_cuda_beside_a_gpu_is_named(
    host: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.version, "cuda", None)
    message = r"which torch 2\.13\.0 \(built without CUDA\) cannot use: install one with CUDA"
    with pytest.raises(UserError, match=message):
        chosen()


def test_tables_beside_a_gpu_that_torch_cannot_use_are_warned(
    host: None, caplog: pytest.LogCaptureFixture
) -> None:
    assert chosen("tabular") == CPU
    assert caplog.messages == [f"compute.device: auto: {UNUSABLE}; tables train on the CPU"]


@pytest.mark.parametrize("hidden", ["", "-1"])
def test_gpu_that_is_hidden_is_none(
    host: None, monkeypatch: pytest.MonkeyPatch, hidden: str
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
    assert chosen() == CPU


def test_nobody_is_asked_where_the_cpu_is_wanted(
    host: None, caplog: pytest.LogCaptureFixture
) -> None:
    assert chosen(device="cpu") == CPU
    assert caplog.messages == []


def test_gpu_without_the_precision_is_one_line(gpu: None) -> None:
    with pytest.raises(UserError) as error:
        chosen(precision="bfloat16")
    assert str(error.value) == (
        "compute.precision: bfloat16: Tesla V100 (compute capability 7.0) lacks it: it needs "
        "compute capability 8.0; set compute.precision: float32"
    )


@pytest.mark.parametrize(
    ("kind", "name", "device"),
    [
        ("tabular", "auto", CPU),
        ("tabular", "cuda", CUDA),
        ("tabular", "cpu", CPU),
        ("text", "auto", CUDA),
        ("image", "auto", CUDA),
        ("image", "cpu", CPU),
    ],
)
def test_tables_train_on_a_gpu_only_if_asked_to(
    gpu: None, kind: str, name: str, device: torch.device
) -> None:
    assert chosen(kind, device=name) == device


@pytest.mark.parametrize("name", ["auto", "cuda"])
def test_what_a_gpu_computes_can_be_repeated(gpu: None, name: str) -> None:
    assert chosen(device=name) == CUDA
    assert (torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark) == (True, False)
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"


def test_process_without_the_gpu_of_its_job_is_refused(no_gpu: None) -> None:
    with pytest.raises(UserError, match=r"^compute\.device: cuda: node3: torch sees no GPU here"):
        take_device(CUDA)
    assert take_device(CPU) == CPU


def test_gpu_that_torch_sees_is_named(gpu: None) -> None:
    assert seen() == "torch 2.13.0 (CUDA 13.0) sees Tesla V100 (compute capability 7.0)"


def test_gpu_that_torch_does_not_see_is_named(host: None) -> None:
    assert seen() == UNUSABLE


def test_without_a_gpu_the_cpu_is_named(no_gpu: None) -> None:
    assert seen() == "torch 2.13.0 (CUDA 13.0) sees no GPU, and trains on the CPU"


@pytest.fixture
def first_kernel(gpu: None, monkeypatch: pytest.MonkeyPatch) -> list[Exception]:
    """What the first kernel raises, the last entry of a list."""
    errors: list[Exception] = []

    def run(*_: object, **__: object) -> None:
        raise errors[-1]

    monkeypatch.setattr(torch, "ones", run)
    return errors


def test_gpu_that_is_too_old_for_its_torch_is_one_line(first_kernel: list[Exception]) -> None:
    message = "CUDA error: no kernel image is available for execution on the device"
    first_kernel.append(torch.AcceleratorError(f"{message}\nmore"))
    with pytest.raises(UserError) as error:
        take_device(CUDA)
    assert str(error.value) == (
        "compute.device: cuda: Tesla V100 (compute capability 7.0) cannot run kernels of torch "
        f"2.13.0 (CUDA 13.0): {message}; install a torch for it (docs/gpu.md), or set "
        "compute.device: cpu"
    )


def test_gpu_that_is_full_is_not_too_old(first_kernel: list[Exception]) -> None:
    first_kernel.append(torch.OutOfMemoryError("CUDA out of memory"))
    with pytest.raises(torch.OutOfMemoryError):
        take_device(CUDA)


@pytest.mark.parametrize(
    ("device", "trials", "used"),
    [
        (CPU, 2, []),
        (CUDA, 1, ["u0"]),
        (CUDA, 2, ["u0", "u1"]),
        (CUDA, 9, ["u0", "u1", "u2"]),
    ],
)
def test_gpus_in_use_are_the_first_of_those_that_are_visible(
    monkeypatch: pytest.MonkeyPatch, device: torch.device, trials: int, used: list[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda index: SimpleNamespace(uuid=f"u{index}")
    )
    assert gpus_in_use(device, trials) == used
