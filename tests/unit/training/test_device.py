"""The device and the threads of a job, and the settings that make its results repeatable."""

import os
import platform
from types import SimpleNamespace

import pytest
import torch

from automata.config.sections import Compute
from automata.errors import UserError
from automata.training import device
from automata.training.device import choose_device, gpus_in_use, seen, take_device

CPU, CUDA = torch.device("cpu"), torch.device("cuda")
UNUSABLE = (
    "NVML knows Tesla V100, driver 570.1, which torch 2.13.0 (CUDA 13.0) cannot use: update the "
    "driver or install a torch for it (docs/gpu.md), or set compute.device: cpu"
)
NO_KERNEL = "CUDA error: no kernel image is available for execution on the device"


def chosen(kind="image", **compute):
    return choose_device(Compute.model_validate(compute), kind)


@pytest.fixture
def host(monkeypatch):
    """A host with a V100, whose driver is older than its torch."""
    monkeypatch.setattr(torch, "__version__", "2.13.0")
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Tesla V100")
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (7, 0))
    monkeypatch.setattr(device, "gpu_models", lambda: ["Tesla V100, driver 570.1"] * 2)
    monkeypatch.setattr(platform, "node", lambda: "node3")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


@pytest.fixture
def gpu(host, monkeypatch):
    """The host with a driver for its torch."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: False)
    monkeypatch.setattr(torch.backends.cudnn, "deterministic", False)
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", True)
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", "")
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG")


def test_host_without_a_gpu_trains_on_the_cpu_and_refuses_cuda(host, monkeypatch):
    monkeypatch.setattr(device, "gpu_models", list)
    assert {chosen(kind) for kind in ("tabular", "text", "image")} == {CPU}
    assert chosen(device="cpu") == take_device(CPU) == CPU
    assert seen() == "torch 2.13.0 (CUDA 13.0) sees no GPU, and trains on the CPU"
    with pytest.raises(UserError, match=r"^compute\.device: cuda: torch sees no GPU here"):
        chosen(device="cuda")
    with pytest.raises(UserError, match=r"^compute\.device: cuda: node3: torch sees no GPU here"):
        take_device(CUDA)


@pytest.mark.parametrize(("kind", "name"), [("text", "auto"), ("image", "auto"), ("image", "cuda")])
def test_gpu_that_torch_cannot_use_is_refused_in_one_line(host, kind, name, monkeypatch):
    with pytest.raises(UserError) as error:
        chosen(kind, device=name)
    assert str(error.value) == f"compute.device: {name}: {UNUSABLE}"
    assert seen() == UNUSABLE
    monkeypatch.setattr(torch.version, "cuda", None)
    message = r"which torch 2\.13\.0 \(built without CUDA\) cannot use: install one with CUDA"
    with pytest.raises(UserError, match=message):
        chosen(kind, device=name)


def test_tables_beside_a_gpu_that_torch_cannot_use_are_a_warning(host, caplog):
    assert chosen(device="cpu") == CPU
    assert caplog.messages == []
    assert chosen("tabular") == CPU
    assert caplog.messages == [f"compute.device: auto: {UNUSABLE}; tables train on the CPU"]


@pytest.mark.parametrize("hidden", ["", "-1"])
def test_gpu_that_is_hidden_is_none(host, monkeypatch, hidden):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
    assert chosen() == CPU


def test_gpu_without_the_precision_is_refused_in_one_line(gpu):
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
        ("text", "auto", CUDA),
        ("image", "auto", CUDA),
        ("image", "cpu", CPU),
    ],
)
def test_tables_train_on_a_gpu_only_if_asked_to_and_results_on_it_are_repeatable(
    gpu, kind, name, device
):
    assert chosen(kind, device=name) == device
    repeatable = device == CUDA
    assert torch.backends.cudnn.deterministic is repeatable
    assert torch.backends.cudnn.benchmark is not repeatable
    assert (os.environ.get("CUBLAS_WORKSPACE_CONFIG") == ":4096:8") is repeatable
    assert seen() == "torch 2.13.0 (CUDA 13.0) sees Tesla V100 (compute capability 7.0)"


def test_gpu_that_is_too_old_for_its_torch_is_refused_but_not_one_that_is_full(gpu, monkeypatch):
    errors = []

    def first_kernel(*_, **__):
        raise errors[-1]

    monkeypatch.setattr(torch, "ones", first_kernel)
    errors.append(torch.AcceleratorError(f"{NO_KERNEL}\nmore"))
    with pytest.raises(UserError) as error:
        take_device(CUDA)
    assert str(error.value) == (
        "compute.device: cuda: Tesla V100 (compute capability 7.0) cannot run kernels of torch "
        f"2.13.0 (CUDA 13.0): {NO_KERNEL}; install a torch for it (docs/gpu.md), or set "
        "compute.device: cpu"
    )
    errors.append(torch.OutOfMemoryError("CUDA out of memory"))
    with pytest.raises(torch.OutOfMemoryError):
        take_device(CUDA)


def test_gpus_in_use_are_the_first_of_those_that_are_visible(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda index: SimpleNamespace(uuid=f"u{index}")
    )
    assert gpus_in_use(CPU, 2) == []
    assert [gpus_in_use(CUDA, n) for n in (1, 9)] == [["u0"], ["u0", "u1", "u2"]]
