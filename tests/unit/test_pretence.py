"""The pretended GPU refuses what a GPU refuses, and computes what the CPU computes."""

from __future__ import annotations

import copy
import io
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, embedding

from automata.allocation import gpus_of_host
from automata.config.machine import Compute
from automata.metering.gpus import gpu_models, gpu_sources, visible_gpus
from automata.training.device import choose_device, gpus_in_use, take_device
from pretence import (
    LAUNCHES,
    SYNCHRONISATIONS,
    TO_DEVICE,
    TO_HOST,
    UUID,
    VIEWS,
    Pretended,
    pretended_cuda,
)


@pytest.fixture(autouse=True)
def counts() -> Iterator[Counter[str]]:
    with pretended_cuda() as counted:
        yield counted


def host(*shape: int) -> Tensor:
    return torch.ones(shape)


def device(*shape: int) -> Tensor:
    return torch.ones(shape, device="cuda")


def rows(*numbers: int, on: str) -> Tensor:
    return torch.tensor(numbers, device=on)


def step_with_moments_left_behind() -> None:
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, fused=True)
    model(host(4, 3)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    model.to("cuda")
    model(device(4, 3)).sum().backward()
    optimizer.step()


OTHER_DEVICE = "Expected all tensors to be on the same device"
OTHER_GENERATOR = "device type for generator"
NO_NUMPY = "can't convert cuda:0 device type tensor to numpy"

MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "sum of both": (lambda: host(3) + device(3), OTHER_DEVICE),
    "sum with one element of the host": (lambda: device(3) + host(1), OTHER_DEVICE),
    "sum into a number of the host": (lambda: host().add_(device()), OTHER_DEVICE),
    "result into the host": (lambda: torch.mul(device(3), 2, out=host(3)), OTHER_DEVICE),
    "matrix product of both": (lambda: device(2, 3) @ host(3, 2), OTHER_DEVICE),
    "concatenation of both": (lambda: torch.cat([device(3), host(3)]), OTHER_DEVICE),
    "choice by the host's condition": (
        lambda: torch.where(host(3) > 0, device(3), 0.0),
        OTHER_DEVICE,
    ),
    "labels on the host": (
        lambda: cross_entropy(device(2, 3), rows(0, 1, on="cpu")),
        OTHER_DEVICE,
    ),
    "inputs on the host": (lambda: nn.Linear(3, 2).to("cuda")(host(4, 3)), OTHER_DEVICE),
    "model on the host": (lambda: nn.Linear(3, 2)(device(4, 3)), OTHER_DEVICE),
    "moments on the host": (step_with_moments_left_behind, OTHER_DEVICE),
    "words on the host": (lambda: embedding(rows(0, on="cpu"), device(4, 3)), OTHER_DEVICE),
    "the device's row numbers on the host": (lambda: host(3)[rows(0, on="cuda")], OTHER_DEVICE),
    "the host's values in the device's rows": (
        lambda: device(3).index_put_((rows(0, 1, on="cuda"),), host(2)),
        OTHER_DEVICE,
    ),
    "selection by the host's row numbers": (
        lambda: device(3).index_select(0, rows(0, on="cpu")),
        OTHER_DEVICE,
    ),
    "the host's generator for a factory": (
        lambda: torch.randperm(3, generator=torch.Generator(), device="cuda"),
        OTHER_GENERATOR,
    ),
    "the host's generator for a tensor": (
        lambda: device(3).normal_(generator=torch.Generator()),
        OTHER_GENERATOR,
    ),
    "the device's generator on the host": (
        lambda: torch.randperm(3, generator=torch.Generator("cuda")),
        OTHER_GENERATOR,
    ),
    "numpy": (lambda: device(3).numpy(), NO_NUMPY),
    "numpy's own conversion": (lambda: np.asarray(device(3)), NO_NUMPY),
    "a second GPU": (lambda: host(3).to("cuda:1"), "invalid device ordinal"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_is_refused(name: str) -> None:
    mistake, message = MISTAKES[name]
    with pytest.raises((RuntimeError, TypeError), match=message):
        mistake()


def assigned(rows_: Any, values: Any) -> Tensor:
    tensor = device(3)
    tensor[rows_] = values
    return tensor


def filled(tensor: Tensor, source: Tensor) -> Tensor:
    return tensor.copy_(source)


MIXTURES: dict[str, tuple[Callable[[], Tensor], list[float]]] = {
    "sum with a number of the host": (lambda: device(2) + host(), [2, 2]),
    "number of the host first": (lambda: 3 * host() - device(2), [2, 2]),
    "choice of a number": (lambda: torch.where(device(2) > 1, device(2), -1.0), [-1, -1]),
    "masked by a number": (lambda: device(2).masked_fill(device(2) > 0, host() * 5), [5, 5]),
    "the host's row numbers": (
        lambda: torch.arange(3.0, device="cuda")[rows(2, 0, on="cpu")],
        [2, 0],
    ),
    "the host's mask": (lambda: torch.arange(3.0, device="cuda")[host(3) > 0], [0, 1, 2]),
    "assignment to the host's row numbers": (lambda: assigned(rows(0, on="cpu"), 4), [4, 1, 1]),
    "assignment of a number of the host": (
        lambda: assigned(rows(0, on="cuda"), host() * 4),
        [4, 1, 1],
    ),
    "assignment of a number to a slice": (lambda: assigned(slice(1, None), 7.0), [1, 7, 7]),
    "copy onto the device": (lambda: filled(device(2), host(2) * 3), [3, 3]),
    "copy onto the host": (lambda: filled(host(2), device(2) * 3), [3, 3]),
    "result of another size": (
        lambda: torch.add(device(2), 1, out=torch.empty(0, device="cuda")),
        [2, 2],
    ),
    "vector times matrix": (lambda: device(3) @ device(3, 2), [3, 3]),
}


@pytest.mark.parametrize("name", MIXTURES)
def test_what_a_gpu_allows_is_computed(name: str) -> None:
    compute, expected = MIXTURES[name]
    assert compute().tolist() == expected


MAKERS: dict[str, Callable[[], Tensor]] = {
    "zeros": lambda: torch.zeros(3, device="cuda"),
    "tensor": lambda: torch.tensor([1, 2], device=torch.device("cuda")),
    "as_tensor": lambda: torch.as_tensor(np.ones(2), device="cuda:0"),
    "like": lambda: torch.zeros_like(device(2)),
    "like on the device": lambda: torch.zeros_like(host(2), device="cuda"),
    "new": lambda: device(2).new_empty(4),
    "to": lambda: host(2).to("cuda"),
    "to another": lambda: host(2).to(device(1)),
    "to by name": lambda: host(2).to(device="cuda", dtype=torch.float64),
    "cuda": lambda: host(2).cuda(),
    "to its number": lambda: host(2).to(0),
    "inside a context": lambda: in_context(),
    "random": lambda: torch.rand(2, generator=torch.Generator("cuda"), device="cuda"),
    "row": lambda: next(iter(device(2, 2))),
    "data": lambda: device(2).data,
    "deep copy": lambda: copy.deepcopy(device(2)),
}


def in_context() -> Tensor:
    with torch.device("cuda"):
        return torch.zeros(2)


@pytest.mark.parametrize("name", MAKERS)
def test_tensor_is_made_on_the_device(name: str) -> None:
    made = MAKERS[name]()
    assert (made.device, made.is_cuda) == (torch.device("cuda:0"), True)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize(
    "move",
    [
        lambda x: x.cpu(),
        lambda x: x.to("cpu"),
        lambda x: x.to(torch.float64).to(host(1)),
        lambda x: torch.ones_like(x, device="cpu"),
    ],
    ids=["cpu", "to", "to another", "like"],
)
def test_it_comes_back(name: str, move: Callable[[Tensor], Tensor]) -> None:
    back = move(MAKERS[name]())
    assert not isinstance(back, Pretended)
    back.numpy()


def test_a_copy_shares_no_memory_with_what_it_is_of() -> None:
    source = np.ones(2)
    there = torch.as_tensor(source, device="cuda")
    back = there.cpu()
    source[0] = 5
    back[1] = 7
    assert there.tolist() == [1, 1]


def test_gradients_cross_between_host_and_device() -> None:
    there, here = device(2).requires_grad_(), host(2).requires_grad_()
    (there * here.to("cuda")).cpu().mul(3).sum().backward()
    assert there.grad is not None
    assert here.grad is not None
    assert (there.grad.device.type, here.grad.device.type) == ("cuda", "cpu")
    assert (there.grad.tolist(), here.grad.tolist()) == ([3, 3], [3, 3])


def test_model_moves_with_its_parameters_the_same_objects() -> None:
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    before = list(model.parameters())
    values = [p.tolist() for p in before]
    model.to("cuda")
    assert all(p is old for p, old in zip(model.parameters(), before, strict=True))
    assert {x.device.type for x in model.state_dict().values()} == {"cuda"}
    assert [p.tolist() for p in before] == values
    model(device(4, 3)).sum().backward()
    model.cpu()
    assert {x.device.type for x in model.state_dict().values()} == {"cpu"}
    assert {p.grad.device.type for p in before if p.grad is not None} == {"cpu"}


def test_a_state_of_the_host_is_loaded_onto_the_device() -> None:
    source, model = nn.Linear(3, 2), nn.Linear(3, 2).to("cuda")
    model.load_state_dict(source.state_dict())
    assert model.weight.is_cuda
    assert model.weight.tolist() == source.weight.tolist()


def saved(value: Any) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return file


@pytest.mark.parametrize(
    ("where", "found"), [(None, ["cuda", "cpu"]), ("cpu", ["cpu"] * 2), ("cuda", ["cuda"] * 2)]
)
def test_a_file_knows_the_device_of_its_tensors(where: str | None, found: list[str]) -> None:
    file = saved([device(2), host(2)])
    loaded = torch.load(file, map_location=where, weights_only=True)
    assert [x.device.type for x in loaded] == found
    assert [x.tolist() for x in loaded] == [[1, 1], [1, 1]]


def test_random_numbers_of_the_device_leave_the_host_alone() -> None:
    state = torch.random.get_rng_state()
    torch.cuda.manual_seed(3)
    first = torch.rand(3, device="cuda").tolist()
    nn.functional.dropout(device(100))
    assert torch.equal(torch.random.get_rng_state(), state)
    torch.cuda.manual_seed(3)
    assert torch.rand(3, device="cuda").tolist() == first


def test_a_fork_of_random_numbers_restores_those_of_the_device() -> None:
    torch.cuda.manual_seed(3)
    first = torch.rand(3, device="cuda").tolist()
    torch.cuda.manual_seed(3)
    with torch.random.fork_rng(devices=["cuda"]):
        torch.cuda.manual_seed(5)
    assert torch.rand(3, device="cuda").tolist() == first


COUNTED: dict[str, tuple[Callable[[Tensor], Any], dict[str, int]]] = {
    "operation": (lambda x: x * 2, {LAUNCHES: 1}),
    "in place": (lambda x: x.mul_(2), {LAUNCHES: 1}),
    "view": (lambda x: x.view(3, 2)[0], {VIEWS: 2}),
    "factory": (lambda x: torch.zeros(3, device=x.device), {LAUNCHES: 1}),
    "memory": (lambda x: torch.empty(3, device=x.device), {}),
    "number": (lambda x: x[0, 0].item(), {VIEWS: 2, SYNCHRONISATIONS: 1, TO_HOST: 1}),
    "condition": (lambda x: bool(x.sum() > 0), {LAUNCHES: 2, SYNCHRONISATIONS: 1, TO_HOST: 1}),
    "list": (lambda x: x.tolist(), {SYNCHRONISATIONS: 1, TO_HOST: 1}),
    "to the host": (lambda x: x.cpu(), {SYNCHRONISATIONS: 1, TO_HOST: 1}),
    "into the host": (lambda x: host(2, 3).copy_(x), {SYNCHRONISATIONS: 1, TO_HOST: 1}),
    "to the device": (lambda x: host(2).to(x), {TO_DEVICE: 1}),
    "into the device": (lambda x: x.copy_(host(2, 3)), {TO_DEVICE: 1}),
    "list to the device": (lambda x: torch.tensor([1, 2], device=x.device), {TO_DEVICE: 1}),
    "already there": (lambda x: x.to("cuda"), {}),
    "another type": (lambda x: x.double(), {LAUNCHES: 1}),
    "the host's rows": (lambda x: x[rows(0, on="cpu")], {LAUNCHES: 1, TO_DEVICE: 1}),
    "size that depends on values": (lambda x: x.nonzero(), {LAUNCHES: 1, SYNCHRONISATIONS: 1}),
    "synchronize": (lambda x: torch.cuda.synchronize(), {SYNCHRONISATIONS: 1}),
    "on the host": (lambda x: host(3) * 2, {}),
}


@pytest.mark.parametrize("name", COUNTED)
def test_counts(counts: Counter[str], name: str) -> None:
    function, expected = COUNTED[name]
    there = device(2, 3)
    before = counts.copy()
    function(there)
    assert counts - before == expected


def test_memory_is_that_of_tensors_which_live() -> None:
    before = torch.cuda.memory_allocated()
    there = device(1024)
    assert torch.cuda.memory_allocated() - before == 4096
    row = there[:10]
    assert torch.cuda.memory_allocated() - before == 4096
    del there, row
    assert torch.cuda.memory_allocated() == before


def test_job_finds_one_gpu_with_a_counter() -> None:
    device = take_device(choose_device(Compute(precision="bfloat16"), "image"))
    assert gpus_in_use(device) == visible_gpus() == [UUID]
    assert gpus_of_host() == 1
    notes: list[str] = []
    (source,) = gpu_sources(visible_gpus(), notes)
    source.start()
    source.update()
    channel = source.channel()
    assert (channel.method, notes) == ("measured", [])
    assert gpu_models(notes) == ["NVIDIA Pretended, driver 580.00"]
