"""Training on the pretended GPU obeys its rules, and is that on the CPU to the last digit."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import torch

from automata.config.protocol import Protocol
from automata.config.sections import Compute
from automata.datasets.prepared import Dataset
from automata.models.resnet import BasicBlock, ResNet
from automata.selection import embeddings, matching
from automata.selection.problem import SelectionProblem, Subset
from automata.selection.random import FixedRandom
from automata.training import backward
from automata.training.evaluation import chunks
from automata.training.run import TrainingRun
from automata.training.subsets import SubsetPlan, Subsets, build_selector
from automata.tuning.checkpoints import (
    HOST_BYTES,
    memory_of_paused_runs,
    read_checkpoint,
    write_checkpoint,
)
from benchmarks.workloads import images, sentences
from support.pretence import MEMORY_BYTES, pretended_cuda

CPU, CUDA = torch.device("cpu"), torch.device("cuda")
FLOAT32, BFLOAT16 = Compute(), Compute(precision="bfloat16")
COMPILED = Compute(compiled=True)
USUAL = {"momentum": 0.9, "schedule": "cosine", "batch_size": 8}
TABLE = {**USUAL, "learning_rate": 0.01, "hidden1": 8, "hidden2": 7, "optimizer": "adam"}
TEXT = {**USUAL, "learning_rate": 0.01, "hidden": 6, "layers": 2, "optimizer": "adam"}
IMAGE = {**USUAL, "lr1": 0.01, "lr2": 0.02, "lr3": 0.03, "lr4": 0.04, "nesterov": True}
CONFIGURATIONS = {"mlp": TABLE, "lstm": TEXT, "resnet18": {**IMAGE, "optimizer": "sgd"}}


@pytest.fixture(scope="session")
def data(dataset: Dataset) -> dict[str, Dataset]:
    """Return the data set of each model; its words are more than a subset has."""
    words = sentences(32, words=300, dimension=4).dataset
    # Of images of 4x4 the last stage sees one pixel, and there a CPU's bfloat16 gradient of a
    # convolution with stride 2 has parts that torch never sets.
    return {"mlp": dataset, "lstm": words, "resnet18": images(20, size=5).dataset}


def make(
    data: dict[str, Dataset],
    model: str,
    selector: str,
    device: torch.device = CUDA,
    compute: Compute = FLOAT32,
    **changes: Any,
) -> TrainingRun:
    protocol = {"configurations": 1, "reselect_every": 2, "search_space": {}, "epochs": 3}
    settings = Protocol.model_validate({**protocol, "model": model, **changes})
    plan = SubsetPlan(build_selector(selector), 1.0 if selector == "full" else 0.5)
    dataset = replace(data[model])  # a copy on the device of its own
    return TrainingRun(dataset, CONFIGURATIONS[model], settings, plan, 0, device, compute)


def trained(run: TrainingRun) -> dict[str, Any]:
    """Return digests of the weights after training, and the progress without clocks."""
    run.train_to(3)
    run.evaluate()
    undated = {"seconds": True, "evaluations": {"__all__": {"finished_at"}}}
    weights = {name: value.cpu().numpy() for name, value in run.model.state_dict().items()}
    digests = {name: sha256(w.tobytes()).hexdigest() for name, w in weights.items()}
    return run.progress.model_dump(exclude=undated) | digests


@pytest.mark.parametrize(
    ("model", "selector", "compute", "changes"),
    [
        ("mlp", "glister", FLOAT32, {"class_weights": "balanced"}),
        ("mlp", "gradmatch", BFLOAT16, {}),
        ("lstm", "craig", FLOAT32, {}),
        ("resnet18", "gradmatch", FLOAT32, {"augmentation": {"crop_padding": 1, "flip": True}}),
        ("resnet18", "full", BFLOAT16, {}),
    ],
)
def test_training_is_that_on_the_cpu(
    data: dict[str, Dataset],
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    selector: str,
    compute: Compute,
    changes: dict[str, Any],
) -> None:
    # On a CPU NumPy multiplies gradients, on a GPU torch, which rounds in its own way.
    for module in (embeddings, matching):
        monkeypatch.setattr(module, "inner_products", lambda rows: rows @ rows.T)
    on_cpu = trained(make(data, model, selector, CPU, compute, **changes))
    with pretended_cuda():
        run = make(data, model, selector, CUDA, compute, **changes)
        on_gpu = trained(run)
        assert {value.device.type for value in run.model.state_dict().values()} == {"cuda"}
    assert on_gpu == on_cpu


def test_a_compiled_model_is_captured_as_graphs(
    data: dict[str, Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pretence cannot compile: it trains by what would be compiled."""
    modes = []
    backward._compiled_loss.cache_clear()
    monkeypatch.setattr(
        torch, "compile", lambda loss, dynamic, mode: (modes.append((dynamic, mode)), loss)[1]
    )
    with pretended_cuda():
        on_gpu = trained(make(data, "resnet18", "full", compute=COMPILED))
        assert on_gpu == trained(make(data, "resnet18", "full"))
    backward._compiled_loss.cache_clear()
    assert modes == [(False, "reduce-overhead")]


@pytest.mark.parametrize("model", CONFIGURATIONS)
def test_a_run_goes_on_from_a_checkpoint_as_if_in_one_go(
    data: dict[str, Dataset], tmp_path: Path, model: str
) -> None:
    with pretended_cuda():
        whole = trained(make(data, model, "rs2"))
        before, after = (make(data, model, "rs2") for _ in range(2))
        before.train_to(1)
        write_checkpoint(tmp_path / "state.pt", before.state())
        state = read_checkpoint(tmp_path / "state.pt")
        assert state is not None
        after.restore(state)
        assert trained(after) == whole


@pytest.mark.parametrize("model", CONFIGURATIONS)
def test_a_run_that_nobody_holds_is_gone_without_the_garbage_collector(
    data: dict[str, Dataset], model: str
) -> None:
    """A GPU that runs out of memory does not call it."""
    gc.collect()
    gc.disable()
    try:
        with pretended_cuda():
            run = make(data, model, "rs2")
            trained(run)
            run.restore(run.state())
            left = [weakref.ref(it) for it in (run, run.model, run.optimizer, run.schedule)]
            del run
            assert [ref() for ref in left] == [None] * 4
    finally:
        gc.enable()


@pytest.mark.parametrize("model", CONFIGURATIONS)
def test_the_host_waits_for_no_single_step(data: dict[str, Dataset], model: str) -> None:
    """Epochs wait as often as those of half the steps."""
    counts = []
    with pretended_cuda() as waits:
        for fraction in (0.3, 0.6):
            run = make(data, model, "rs2")
            run.plan = replace(run.plan, fraction=fraction)
            run.train_to(1)
            waits.clear()
            run.train_to(2)
            counts.append(len(waits))
    assert 0 < counts[0] == counts[1]


def test_clocks_are_read_when_the_gpu_has_nothing_to_do(data: dict[str, Dataset]) -> None:
    with pretended_cuda() as waits:
        run = make(data, "mlp", "full")
        waits.clear()
        with run._timed("training"):
            assert waits == ["synchronisation"]
        assert waits == ["synchronisation"] * 2


def test_a_gpu_holds_one_copy_of_the_data(data: dict[str, Dataset]) -> None:
    dataset = replace(data["mlp"])
    with pretended_cuda():
        assert dataset.to(CUDA) is dataset.to(CUDA)


def test_runs_that_wait_take_a_fifth_of_the_memory_that_is_free() -> None:
    with pretended_cuda():
        assert memory_of_paused_runs(CUDA) == MEMORY_BYTES // 5
    assert memory_of_paused_runs(CPU) == HOST_BYTES


def test_a_gpu_evaluates_more_rows_at_once(data: dict[str, Dataset]) -> None:
    with pretended_cuda():
        run = make(data, "lstm", "full")
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
        run, usual = (make(data, "lstm", "random") for _ in range(2))
        run._subsets = Subsets(SubsetPlan(OnTheDevice(), 0.5), run.protocol)
        assert trained(run) == trained(usual)
