"""Training on the pretended GPU obeys its rules, and is that on the CPU to the last digit."""

import gc
import weakref
from dataclasses import replace
from hashlib import sha256
from types import SimpleNamespace

import pytest
import torch

from automata.config.protocol import Protocol
from automata.config.sections import Compute
from automata.selection import embeddings, matching
from automata.selection.random import FixedRandom
from automata.training.evaluation import chunks
from automata.training.run import TrainingRun
from automata.training.subsets import SubsetPlan, build_selector
from automata.tuning.checkpoints import read_checkpoint, write_checkpoint
from benchmarks.workloads import images, sentences
from support.pretence import pretended_cuda

CPU, CUDA = torch.device("cpu"), torch.device("cuda")
FLOAT32, BFLOAT16 = Compute(), Compute(precision="bfloat16")
USUAL = {"momentum": 0.9, "schedule": "cosine", "batch_size": 8}
TABLE = {**USUAL, "learning_rate": 0.01, "hidden1": 8, "hidden2": 7, "optimizer": "adam"}
TEXT = {**USUAL, "learning_rate": 0.01, "hidden": 6, "layers": 2, "optimizer": "adam"}
IMAGE = {**USUAL, "lr1": 0.01, "lr2": 0.02, "lr3": 0.03, "lr4": 0.04, "nesterov": True}
CONFIGURATIONS = {"mlp": TABLE, "lstm": TEXT, "resnet18": {**IMAGE, "optimizer": "sgd"}}
AUGMENTED = {"augmentation": {"crop_padding": 1, "flip": True}}


@pytest.fixture(scope="session")
def data(dataset):
    """The data set of each model; its words are more than a subset has."""
    words = sentences(32, words=300, dimension=4).dataset
    # Of images of 4x4 the last stage sees one pixel, and there a CPU's bfloat16 gradient of a
    # convolution with stride 2 has parts that torch never sets.
    return {"mlp": dataset, "lstm": words, "resnet18": images(20, size=5).dataset}


def make(data, model, selector, device=CUDA, compute=FLOAT32, fraction=0.5, **changes):
    protocol = {"configurations": 1, "reselect_every": 2, "search_space": {}, "epochs": 3}
    settings = Protocol.model_validate({**protocol, "model": model, **changes})
    made = build_selector(selector) if isinstance(selector, str) else selector
    plan = SubsetPlan(made, 1.0 if selector == "full" else fraction)
    dataset = replace(data[model])  # a copy on the device of its own
    return TrainingRun(dataset, CONFIGURATIONS[model], settings, plan, 0, device, compute)


def trained(run):
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
        pytest.param("resnet18", "gradmatch", FLOAT32, AUGMENTED, marks=pytest.mark.slow),
        pytest.param("resnet18", "full", BFLOAT16, {}, marks=pytest.mark.slow),
    ],
)
def test_training_is_that_on_the_cpu(data, monkeypatch, model, selector, compute, changes):
    # On a CPU NumPy multiplies gradients, on a GPU torch, which rounds in its own way.
    for module in (embeddings, matching):
        monkeypatch.setattr(module, "inner_products", lambda rows: rows @ rows.T)
    on_cpu = trained(make(data, model, selector, CPU, compute, **changes))
    rows = len(data[model].train) * (1 if selector == "full" else 0.5)
    assert (on_cpu["subset_samples"], on_cpu["failure"]) == (rows, None)
    with pretended_cuda():
        run = make(data, model, selector, CUDA, compute, **changes)
        on_gpu = trained(run)
        assert {value.device.type for value in run.model.state_dict().values()} == {"cuda"}
    assert on_gpu == on_cpu


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(name, marks=pytest.mark.slow if "resnet" in name else ())
        for name in CONFIGURATIONS
    ],
)
def test_run_resumes_from_a_checkpoint_and_is_freed_without_the_garbage_collector(
    data, tmp_path, model
):
    """A GPU that runs out of memory does not call it."""
    changes = AUGMENTED if model == "resnet18" else {}
    with pretended_cuda():
        whole = trained(make(data, model, "rs2", **changes))
        before = make(data, model, "rs2", **changes)
        before.train_to(1)
        write_checkpoint(tmp_path / "state.pt", before.state())
        state = read_checkpoint(tmp_path / "state.pt")
        assert state is not None
        gc.collect()
        gc.disable()
        try:
            after = make(data, model, "rs2", **changes)
            after.restore(state)
            assert trained(after) == whole
            after.restore(after.state())
            parts = (after, after.model, after.optimizer, after.schedule)
            left = [weakref.ref(part) for part in parts]
            del after, parts
            assert [ref() for ref in left] == [None] * 4
        finally:
            gc.enable()


@pytest.mark.parametrize(("size", "rows"), [(None, 8), (64, 2)])
def test_gpu_evaluates_more_rows_at_once_but_fewer_large_images(data, size, rows):
    dataset = images(8, size=size).dataset if size else replace(data["lstm"])
    with pretended_cuda():
        reader = SimpleNamespace(evaluation_rows=1, evaluation_rows_on_gpu=8, reads_padding=True)
        assert len(next(chunks(dataset.to(CUDA).train, reader))[1]) == rows


def test_clocks_are_read_when_the_gpu_has_nothing_to_do(data):
    with pretended_cuda() as waits:
        run = make(data, "mlp", "full")
        waits.clear()
        with run._timed("training"):
            assert waits == ["synchronisation"]
        assert waits == ["synchronisation"] * 2


class OnTheDevice(FixedRandom):
    """A user's selector whose rows come from a GPU."""

    def select(self, problem):
        subset = super().select(problem)
        return replace(subset, batches=[batch.to("cuda") for batch in subset.batches])


def test_selector_may_return_rows_on_the_device(data):
    with pretended_cuda():
        usual, run = make(data, "lstm", "random"), make(data, "lstm", OnTheDevice())
        assert trained(run) == trained(usual)
