"""Training on texts and images: what is special about them in the loop."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import Tensor

from automata.config.protocol import Protocol
from automata.datasets.prepared import Dataset, Normalisation, Split
from automata.selection.gradmatch import GradMatch
from automata.selection.random import Full
from automata.training.run import TrainingRun
from automata.training.subsets import SubsetPlan

CPU = torch.device("cpu")
ROWS, EPOCHS = 24, 4
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "text": {"learning_rate": 0.01, "hidden": 6, "layers": 2},
    "image": {"lr1": 0.01, "lr2": 0.02, "lr3": 0.03, "lr4": 0.04, "nesterov": True},
}
MODELS = {"text": "lstm", "image": "resnet18"}


def protocol(kind: str, **changes: Any) -> Protocol:
    settings = {"model": MODELS[kind], "configurations": 1, "epochs": EPOCHS, "reselect_every": 2}
    more = {"batch_size": 8, "momentum": 0.9, "schedule": "cosine", "search_space": {}}
    return Protocol.model_validate({**settings, **more, **changes})


def texts(generator: torch.Generator, rows: int) -> Split:
    """Rows of one to five words out of ten; the first one says the class."""
    words = torch.randint(2, 12, (rows, 5), generator=generator, dtype=torch.int32)
    lengths = torch.randint(1, 6, (rows, 1), generator=generator)
    words[torch.arange(5) >= lengths] = 0
    return Split(words, (words[:, 0] % 2).long())


def images(generator: torch.Generator, rows: int) -> Split:
    pixels = torch.randint(0, 256, (rows, 3, 8, 8), generator=generator, dtype=torch.uint8)
    normalisation = Normalisation(torch.full((3,), 0.5), torch.full((3,), 0.3))
    return Split(pixels, torch.arange(rows) % 2, normalisation)


@pytest.fixture(params=MODELS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def data(kind: str) -> Dataset:
    generator = torch.Generator().manual_seed(0)
    make = {"text": texts, "image": images}[kind]
    splits = {n: make(generator, ROWS) for n in ("train", "validation", "test")}
    extras = {"vectors": torch.randn(12, 4, generator=generator)} if kind == "text" else {}
    return Dataset("toy", kind, 2, metadata={"flip": True}, extras=extras, **splits)


def run(data: Dataset, settings: Protocol, fraction: float = 1.0, seed: int = 0) -> TrainingRun:
    selector = Full() if fraction == 1 else GradMatch()
    plan = SubsetPlan(selector, fraction)
    return TrainingRun(data, CONFIGURATIONS[data.kind], settings, plan, seed, CPU)


def weights(training: TrainingRun) -> Tensor:
    return torch.cat([value.flatten().double() for value in training.model.state_dict().values()])


def test_fixed_hyperparameters_of_the_protocol_count(data: Dataset, kind: str) -> None:
    training = run(data, protocol(kind))
    training.train_to(1)
    assert training.progress.steps == ROWS / 8


@pytest.mark.parametrize("fraction", [pytest.param(1.0, marks=pytest.mark.slow), 0.5])
def test_going_on_after_a_restore_is_as_going_on(data: Dataset, kind: str, fraction: float) -> None:
    settings = protocol(kind, augmentation={"crop_padding": 2, "flip": True})
    straight = run(data, settings, fraction)
    straight.train_to(2)
    continued = run(data, settings, fraction)
    continued.restore(copy.deepcopy(straight.state()))
    for training in (straight, continued):
        training.train_to(EPOCHS)
        training.evaluate()
    torch.testing.assert_close(weights(continued), weights(straight), rtol=0, atol=0)
    assert continued.progress.score == straight.progress.score


def test_subsets_hold_the_budget(data: Dataset, kind: str) -> None:
    training = run(data, protocol(kind), fraction=0.5)
    training.train_to(EPOCHS)
    assert training.progress.samples == EPOCHS * ROWS / 2
    assert training.progress.gradient_selections > 0


def inputs_of_an_epoch(training: TrainingRun) -> Tensor:
    """Return what the model was given in one epoch of training, as one batch."""
    seen: list[Tensor] = []
    features = training.model.features

    def spy(inputs: Tensor) -> Tensor:
        seen.append(inputs)
        return features(inputs)

    training.model.features = spy  # type: ignore[method-assign]
    training.train_to(training.progress.epochs + 1)
    training.model.features = features  # type: ignore[method-assign]
    return torch.cat(seen)


@pytest.fixture
def pictures() -> Dataset:
    generator = torch.Generator().manual_seed(0)
    splits = {n: images(generator, ROWS) for n in ("train", "validation", "test")}
    return Dataset("toy", "image", 2, metadata={"flip": True}, **splits)


def as_bytes(inputs: Tensor) -> Tensor:
    return ((inputs * 0.3 + 0.5) * 255).round().to(torch.uint8)


def rows(inputs: Tensor) -> set[bytes]:
    return {image.numpy().tobytes() for image in inputs}


def test_without_augmentation_the_model_sees_the_normalised_images(pictures: Dataset) -> None:
    seen = as_bytes(inputs_of_an_epoch(run(pictures, protocol("image"))))
    assert rows(seen) == rows(pictures.train.inputs)


def test_flipped_images_are_mirrored_and_nothing_else(pictures: Dataset) -> None:
    settings = protocol("image", augmentation={"flip": True})
    seen = rows(as_bytes(inputs_of_an_epoch(run(pictures, settings))))
    plain, mirrored = (
        rows(p.contiguous()) for p in (pictures.train.inputs, pictures.train.inputs.flip(3))
    )
    assert seen <= plain | mirrored
    assert seen & plain
    assert seen & mirrored


def test_a_data_set_that_forbids_mirroring_is_not_mirrored(pictures: Dataset) -> None:
    digits = Dataset(
        "digits", "image", 2, pictures.train, pictures.validation, pictures.test, {"flip": False}
    )
    settings = protocol("image", augmentation={"flip": True})
    seen = as_bytes(inputs_of_an_epoch(run(digits, settings)))
    assert rows(seen) == rows(digits.train.inputs)


def test_each_epoch_changes_images_anew_and_each_seed_in_its_own_way(pictures: Dataset) -> None:
    settings = protocol("image", augmentation={"crop_padding": 2, "flip": True})
    training = run(pictures, settings)
    first, second = (rows(as_bytes(inputs_of_an_epoch(training))) for _ in range(2))
    other = rows(as_bytes(inputs_of_an_epoch(run(pictures, settings, seed=1))))
    assert first != second
    assert first != other


def test_evaluation_and_selection_see_images_as_they_are(pictures: Dataset) -> None:
    settings = protocol("image", augmentation={"crop_padding": 2, "flip": True})
    training = run(pictures, settings)
    training.train_to(1)
    scores = []
    for _ in range(2):
        training.evaluate()
        scores.append(training.progress.evaluations[-1].loss)
    assert scores[0] == scores[1]
