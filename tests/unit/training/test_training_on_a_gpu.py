"""Training on the pretended GPU obeys its rules, and is that on the CPU to the last digit."""

from __future__ import annotations

import gc
import os
import weakref
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import torch

from automata.config import Protocol
from automata.config.machine import Compute
from automata.datasets.prepared import SPLITS, Dataset, Normalisation
from automata.models.mlp import Mlp
from automata.models.resnet import BasicBlock, ResNet
from automata.selection import embeddings, matching
from automata.selection.problem import SelectionProblem, Subset
from automata.selection.random import FixedRandom
from automata.training.device import choose_device
from automata.training.evaluation import chunks
from automata.training.run import TrainingRun
from automata.training.subsets import SubsetPlan, Subsets, build_selector
from automata.tuning.checkpoints import (
    HOST_BYTES,
    memory_of_waiting_runs,
    read_checkpoint,
    write_checkpoint,
)
from benchmarks.workloads import images, sentences
from pretence import pretended_cuda

CPU, CUDA = torch.device("cpu"), torch.device("cuda")
EPOCHS = 5
FLOAT32, BFLOAT16 = Compute(), Compute(precision="bfloat16")
USUAL = {"momentum": 0.9, "schedule": "cosine", "batch_size": 8}
TABLE = {**USUAL, "learning_rate": 0.01, "hidden1": 8, "hidden2": 7}
TEXT = {**USUAL, "learning_rate": 0.01, "hidden": 6, "layers": 2, "optimizer": "adam"}
IMAGE = {**USUAL, "lr1": 0.01, "lr2": 0.02, "lr3": 0.03, "lr4": 0.04, "nesterov": True}

SLOW = {f"lr{group}": 1e-4 for group in (1, 2, 3, 4)}

KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "mlp-sgd": ("mlp", {**TABLE, "optimizer": "sgd", "weight_decay": 0.01}),
    "mlp-adam": ("mlp", {**TABLE, "optimizer": "adam"}),
    "lstm": ("lstm", TEXT),
    "lstm-decay": ("lstm", {**TEXT, "weight_decay": 0.01}),
    "resnet18": ("resnet18", {**IMAGE, "optimizer": "sgd"}),
    "resnet50": ("resnet50", {**IMAGE, "optimizer": "sgd", "batch_size": 4, **SLOW}),
}


@pytest.fixture(autouse=True)
def the_same_products(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a CPU NumPy multiplies gradients, on a GPU torch, which rounds in its own way."""
    for module in (embeddings, matching):
        monkeypatch.setattr(module, "inner_products", lambda rows: rows @ rows.T)


@pytest.fixture(scope="session")
def data(dataset: Dataset) -> dict[str, Dataset]:
    """Return the data set of each model; its words are more than a subset has."""
    words = sentences(32, words=300, dimension=4).dataset
    # Of images of 4x4 the last stage sees one pixel, and there a CPU's bfloat16 gradient of a
    # convolution with stride 2 has parts that torch never sets.
    pictures = images(20, size=5).dataset
    return {"mlp": dataset, "lstm": words, "resnet18": pictures, "resnet50": pictures}


def make(
    data: dict[str, Dataset],
    kind: str,
    selector: str,
    device: torch.device,
    *,
    warm_start: float = 0.0,
    epochs: int = EPOCHS,
    compute: Compute = FLOAT32,
    **changes: Any,
) -> TrainingRun:
    model, configuration = KINDS[kind]
    protocol = {"configurations": 1, "reselect_every": 2, "search_space": {}}
    settings = Protocol.model_validate({**protocol, "model": model, "epochs": epochs, **changes})
    plan = SubsetPlan(build_selector(selector), 1.0 if selector == "full" else 0.5, warm_start)
    dataset = replace(data[model])  # a copy on the device of its own
    return TrainingRun(dataset, configuration, settings, plan, 0, device, compute)


def outcome(run: TrainingRun) -> dict[str, Any]:
    """Return digests of the weights, and the progress without what a clock wrote."""
    undated = {"__all__": {"finished_at"}}
    progress = run.progress.model_dump(
        exclude={"seconds": True, "evaluations": undated, "curve": undated}
    )
    weights = {name: value.cpu().numpy() for name, value in run.model.state_dict().items()}
    return progress | {name: sha256(w.tobytes()).hexdigest() for name, w in weights.items()}


def trained(run: TrainingRun, epochs: int = EPOCHS) -> dict[str, Any]:
    run.train_to(epochs)
    run.evaluate()
    return outcome(run)


CASES: list[tuple[str, str, dict[str, Any]]] = [
    *(("mlp-sgd", name, {}) for name in ("full", "random", "rs2", "gradmatch", "craig", "glister")),
    *(("mlp-adam", name, {}) for name in ("full", "gradmatch-adaptive", "adaptive-random")),
    ("mlp-sgd", "gradmatch", {"warm_start": 0.5}),
    ("mlp-sgd", "gradmatch", {"horizon_exponent": 0.5, "evaluate_every": 2}),
    ("mlp-adam", "glister", {"class_weights": "balanced"}),
    ("mlp-adam", "gradmatch", {"compute": BFLOAT16}),
    *(("lstm", name, {}) for name in ("full", "rs2", "gradmatch", "craig", "glister")),
    ("lstm-decay", "full", {}),
    ("lstm", "gradmatch-adaptive", {}),
    ("lstm", "gradmatch", {"compute": BFLOAT16}),
    *(("resnet18", name, {}) for name in ("full", "craig", "glister")),
    ("resnet18", "full", {"compute": BFLOAT16}),
    ("resnet50", "full", {}),
    ("resnet18", "gradmatch", {"augmentation": {"crop_padding": 1, "flip": True}}),
]


@pytest.mark.parametrize(
    ("kind", "selector", "changes"),
    CASES,
    ids=["-".join([kind, name, *map(str, changes)]) for kind, name, changes in CASES],
)
def test_training_is_that_on_the_cpu(
    data: dict[str, Dataset], kind: str, selector: str, changes: dict[str, Any]
) -> None:
    epochs = 3 if kind.startswith("resnet") else EPOCHS
    on_cpu = trained(make(data, kind, selector, CPU, **changes), epochs)
    with pretended_cuda():
        run = make(data, kind, selector, CUDA, **changes)
        on_gpu = trained(run, epochs)
        assert {value.device.type for value in run.model.state_dict().values()} == {"cuda"}
    assert on_gpu == on_cpu


@pytest.mark.parametrize(
    ("kind", "selector"),
    [("mlp-sgd", "gradmatch"), ("mlp-adam", "rs2"), ("lstm", "craig"), ("resnet18", "random")],
)
def test_a_run_goes_on_from_a_checkpoint_as_if_in_one_go(
    data: dict[str, Dataset], tmp_path: Path, kind: str, selector: str
) -> None:
    with pretended_cuda():
        whole = trained(make(data, kind, selector, CUDA), 3)
        before, after = (make(data, kind, selector, CUDA) for _ in range(2))
        before.train_to(1)
        write_checkpoint(tmp_path / "state.pt", before.state())
        state = read_checkpoint(tmp_path / "state.pt")
        assert state is not None
        after.restore(state)
        assert trained(after, 3) == whole


def left_behind(self: Normalisation, device: torch.device) -> Normalisation:
    return self


def test_images_whose_normalisation_stays_on_the_host_are_refused(
    data: dict[str, Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pretence sees a mistake in the project's own code."""
    monkeypatch.setattr(Normalisation, "to", left_behind)
    with pretended_cuda():
        run = make(data, "resnet18", "full", CUDA)
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
            run.train_to(1)


def test_target_that_stays_on_the_host_is_refused(
    data: dict[str, Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pretended_cuda():
        run = make(data, "mlp-sgd", "full", CUDA)
        assert isinstance(run.model, Mlp)
        run.model.one_hot = torch.eye(3)
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
            run.train_to(1)


def test_a_gpu_holds_one_copy_of_the_data(data: dict[str, Dataset]) -> None:
    dataset = replace(data["mlp"])
    parts = [getattr(dataset, name) for name in SPLITS]
    with pretended_cuda():
        before = torch.cuda.memory_allocated()
        assert dataset.to(CUDA) is dataset.to(CUDA)
        held = torch.cuda.memory_allocated() - before
        assert held == sum(split.inputs.nbytes + split.labels.nbytes for split in parts)


@pytest.mark.parametrize(
    ("kind", "selector"),
    [
        ("mlp-sgd", "gradmatch"),
        ("mlp-adam", "random"),
        ("lstm", "rs2"),
        ("lstm-decay", "craig"),
        ("resnet18", "full"),
    ],
)
def test_a_run_that_nobody_holds_is_gone_without_the_garbage_collector(
    data: dict[str, Dataset], kind: str, selector: str
) -> None:
    """A GPU that runs out of memory does not call it."""
    gc.collect()
    gc.disable()
    try:
        with pretended_cuda():
            run = make(data, kind, selector, CUDA)
            trained(run, 3)
            run.restore(run.state())
            left = [weakref.ref(it) for it in (run, run.model, run.optimizer, run.schedule)]
            del run
            assert [ref() for ref in left] == [None] * 4
    finally:
        gc.enable()


def test_runs_that_wait_take_a_fifth_of_the_memory_that_is_free() -> None:
    with pretended_cuda():
        free, _ = torch.cuda.mem_get_info()
        assert memory_of_waiting_runs(CUDA) == free // 5
    assert memory_of_waiting_runs(CPU) == HOST_BYTES


def test_a_gpu_evaluates_more_rows_at_once(data: dict[str, Dataset]) -> None:
    with pretended_cuda():
        run = make(data, "lstm", "full", CUDA)
        run.model.evaluation_rows, run.model.evaluation_rows_on_gpu = 2, 5
        split = run.data.train
        assert [len(labels) for _, labels in chunks(split, run.model)][:2] == [5, 5]


@pytest.mark.parametrize(("size", "rows"), [(32, 8), (64, 2), (256, 1)])
def test_images_of_more_pixels_are_fewer_at_once(size: int, rows: int) -> None:
    dataset = images(8, size=size).dataset
    with pretended_cuda():
        model = ResNet(BasicBlock, (1, 1, 1, 1), 3, 10)
        model.evaluation_rows, model.evaluation_rows_on_gpu = 1, 8
        _, labels = next(chunks(dataset.to(CUDA).train, model))
        assert len(labels) == rows


class OnTheDevice(FixedRandom):
    """A user's selector whose rows come from a GPU."""

    def select(self, problem: SelectionProblem) -> Subset:
        subset = super().select(problem)
        return replace(subset, batches=[batch.to("cuda") for batch in subset.batches])


def test_a_selector_may_return_rows_on_the_device(data: dict[str, Dataset]) -> None:
    with pretended_cuda():
        run, usual = (make(data, "lstm", "random", CUDA) for _ in range(2))
        run._subsets = Subsets(SubsetPlan(OnTheDevice(), 0.5), run.protocol)
        assert trained(run) == trained(usual)


# What is left


def test_after_the_pretence_the_machine_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    monkeypatch.setattr(torch.backends.cudnn, "deterministic", False)
    before = torch.cuda.is_available, torch.load, torch.Generator, torch.nn.Module._apply
    with pretended_cuda():
        choose_device(Compute(device="cuda"), "image")
    assert (torch.cuda.is_available, torch.load, torch.Generator, torch.nn.Module._apply) == before
    assert not torch.backends.cudnn.deterministic
    assert "CUBLAS_WORKSPACE_CONFIG" not in os.environ
    assert torch.zeros(2).mul(2).device == CPU
