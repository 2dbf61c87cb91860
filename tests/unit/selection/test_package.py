"""The solvers as a user without the pipeline sees them: names, cost of importing, memory."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

import automata.selection
from automata.selection import facility_location, gradient_embeddings, matching_pursuit
from automata.selection.embeddings import gradient_embeddings as in_embeddings
from automata.selection.facility import facility_location as in_facility
from automata.selection.matching import matching_pursuit as in_matching


def printed(code: str) -> str:
    """Return what `code` prints in a fresh Python."""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return shown.stdout.strip()


def test_solvers_are_had_from_the_package() -> None:
    assert matching_pursuit is in_matching
    assert facility_location is in_facility
    assert gradient_embeddings is in_embeddings


@pytest.mark.parametrize("code", ["import automata.selection", "import automata.registry"])
def test_the_names_of_selectors_cost_no_library(code: str) -> None:
    libraries = "{'torch', 'scipy', 'numpy', 'pandas'}"
    assert printed(f"import sys; {code}; print({libraries} & set(sys.modules))") == "set()"


def test_a_star_import_brings_what_is_public() -> None:
    code = "from automata.selection import *; print(matching_pursuit.__name__)"
    assert printed(code).strip() == "matching_pursuit"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"automata\.selection' has no attribute 'matching_p'"):
        automata.selection.matching_p  # noqa: B018


def test_the_solvers_work_together() -> None:
    features, residuals = torch.eye(4), torch.eye(4)[:, :2]
    gradients = gradient_embeddings(features, residuals, list(torch.arange(4).split(2)))
    indices, weights = matching_pursuit(gradients, gradients.mean(dim=0), 2)
    exemplars, sizes = facility_location(gradients @ gradients.T, 1)
    assert (indices.tolist(), weights.tolist()) == ([0], pytest.approx([0.5]))
    assert (exemplars.tolist(), sizes.tolist()) == ([0], [2.0])


MEMORY = """
import torch
from pathlib import Path
from automata.selection import gradient_embeddings, matching_pursuit
torch.set_num_threads(1)

def mebibytes(line):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(text.split()[1]) for text in lines if text.startswith(line)) / 1024

def added(function):
    "Return the result, and the most memory that was held beside what there was."
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = mebibytes("VmRSS")
    result = function()
    return result, mebibytes("VmHWM") - before

def work(n):
    batches = list(torch.arange(4 * n).split(4))
    features, residuals = torch.rand(4 * n, 512), torch.rand(4 * n, 10) - 0.5
    gradients, embedding = added(lambda: gradient_embeddings(features, residuals, batches))
    _, pursuit = added(lambda: matching_pursuit(gradients, gradients.mean(dim=0), 40))
    _, copied = added(lambda: gradients.double())
    return embedding, pursuit, copied

work(50)
print(*work(4000))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_for_4000_gradients_of_5130_numbers_is_bounded() -> None:
    """They take 78 MiB: a copy in double precision would take twice that."""
    embedding, pursuit, copied = map(float, printed(MEMORY).split())
    assert 70 < embedding < 150
    assert pursuit < 39
    assert copied > 150, "the measurement sees no copy either"
