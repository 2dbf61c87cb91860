"""A data set, a protocol and configurations small enough for every unit test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from automata.config.data import Preparation
from automata.config.protocol import Protocol
from automata.datasets.prepared import Dataset, Split, write_dataset

torch.set_num_threads(1)  # tests run side by side

CLASSES, FEATURES = 3, 6
TRAIN_ROWS, VALIDATION_ROWS, TEST_ROWS = 120, 40, 30


def _split(rows: int, generator: torch.Generator, centres: torch.Tensor) -> Split:
    labels = torch.randint(CLASSES, (rows,), generator=generator)
    noise = torch.randn(rows, FEATURES, generator=generator)
    return Split(centres[labels] + noise, labels)


@pytest.fixture(scope="session")
def session_ray() -> Iterator[None]:
    """A local Ray for all tests of a run; its start and end are tested in test_ray_session."""
    from automata.tuning.ray_session import ENVIRONMENT, local_ray

    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(ENVIRONMENT, "RAY_preload_python_modules")  # eight workers import too much
        with local_ray(8, 0):
            yield


@pytest.fixture(scope="session")
def dataset() -> Dataset:
    """Three overlapping Gaussian clouds; nothing may change it."""
    generator = torch.Generator().manual_seed(1)
    centres = torch.randn(CLASSES, FEATURES, generator=generator)
    return Dataset(
        "clouds",
        "tabular",
        CLASSES,
        train=_split(TRAIN_ROWS, generator, centres),
        validation=_split(VALIDATION_ROWS, generator, centres),
        test=_split(TEST_ROWS, generator, centres),
        metadata={"source": "synthetic", "preparation": {}},
    )


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the data set DNA; nothing may change it."""
    from automata.datasets.prepare import prepare

    path = tmp_path_factory.mktemp("data") / "dna.safetensors"
    write_dataset(prepare("dna", Preparation(), path.parent), path)
    return path


@pytest.fixture(scope="session")
def protocol() -> Protocol:
    """12 epochs, a selection every 3."""
    return Protocol.model_validate(
        {
            "model": "mlp",
            "configurations": 2,
            "epochs": 12,
            "reselect_every": 3,
            "momentum": 0.9,
            "weight_decay": 0.01,
            "decay_every": 4,
            "decay_factor": 0.1,
            "search_space": {
                "learning_rate": {"uniform": [0.001, 0.01]},
                "optimizer": {"choice": ["adam", "sgd"]},
                "schedule": {"choice": ["none", "cosine", "step"]},
                "hidden1": {"choice": [8]},
                "hidden2": {"choice": [7]},
                "batch_size": {"choice": [16]},
            },
        }
    )


@pytest.fixture
def configuration() -> dict[str, Any]:
    """SGD with a step schedule, and mini-batches of which the last is short."""
    return {
        "learning_rate": 0.01,
        "optimizer": "sgd",
        "schedule": "step",
        "hidden1": 8,
        "hidden2": 7,
        "batch_size": 16,
    }
