"""The device of a job, and what makes one seed one outcome on it."""

from __future__ import annotations

import os
import platform

import pytest
import torch

from automata.errors import UserError
from automata.training.device import choose_device, take_device


@pytest.mark.parametrize("name", ["auto", "cpu"])
def test_without_a_gpu_it_is_the_cpu(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_device(name) == torch.device("cpu")


def test_gpu_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UserError, match=r"^compute\.device: cuda: torch sees no GPU here"):
        choose_device("cuda")


def test_process_without_the_gpu_of_its_job_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(platform, "node", lambda: "node3")
    with pytest.raises(UserError, match=r"^compute\.device: cuda: node3: torch sees no GPU here"):
        take_device("cuda")
    assert take_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize("name", ["auto", "cuda"])
def test_what_a_gpu_computes_can_be_repeated(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.backends.cudnn, "deterministic", False)
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", True)
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", "")
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG")
    assert choose_device(name) == torch.device("cuda")
    assert (torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark) == (True, False)
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
