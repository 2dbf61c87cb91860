"""The pretended GPU catches mistakes that CUDA would refuse, and leaves no trace."""

import os

import pytest
import torch
from torch import nn

from automata.config.sections import Compute
from automata.training.device import choose_device
from support.pretence import pretended_cuda

CPU, CUDA = torch.device("cpu"), torch.device("cuda")


def device(*shape):
    return torch.ones(shape, device=CUDA)


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda: nn.Linear(3, 2)(device(4, 3)), "all tensors to be on the same device"),
        (lambda: torch.ones(3)[device(1).long()], "all tensors to be on the same device"),
        (lambda: torch.randperm(3, generator=torch.Generator(), device=CUDA), "'cuda' device type"),
        (lambda: device(3).numpy(), "numpy"),
    ],
    ids=["host's model", "device's row numbers", "host's generator", "numpy"],
)
def test_mistake_is_refused(mistake, message):
    with pretended_cuda(), pytest.raises((RuntimeError, TypeError), match=message):
        mistake()


def test_pretence_computes_what_a_gpu_allows_and_leaves_no_trace(monkeypatch):
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    monkeypatch.setattr(torch.backends.cudnn, "deterministic", False)
    before = torch.cuda.is_available, torch.autocast.__init__, nn.Module._apply
    with pretended_cuda():
        choose_device(Compute(device="cuda"), "image")
        tensor = torch.arange(4.0, device=CUDA) + torch.ones(())
        tensor[1:3] = 7.0
        assert tensor[torch.tensor([0, 2])].cpu().numpy().tolist() == [1, 7]
    assert (torch.cuda.is_available, torch.autocast.__init__, nn.Module._apply) == before
    assert not torch.backends.cudnn.deterministic
    assert "CUBLAS_WORKSPACE_CONFIG" not in os.environ
    assert torch.zeros(2).mul(2).device == CPU
