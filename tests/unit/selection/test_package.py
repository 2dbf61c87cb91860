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


@pytest.mark.parametrize(
    "code",
    ["import automata.selection", "from automata.selection import SELECTORS"],
)
def test_the_names_of_selectors_cost_no_library(code: str) -> None:
    libraries = "{'torch', 'scipy', 'numpy', 'pandas'}"
    assert printed(f"import sys; {code}; print({libraries} & set(sys.modules))") == "set()"


def test_a_star_import_brings_what_is_public() -> None:
    code = "from automata.selection import *; print(matching_pursuit.__name__, len(SELECTORS))"
    assert printed(code).startswith("matching_pursuit ")


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
import resource, torch
from automata.selection import gradient_embeddings, matching_pursuit
torch.set_num_threads(1)

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

def work(n):
    order = torch.arange(4 * n)
    features, residuals = torch.rand(4 * n, 512), torch.rand(4 * n, 10) - 0.5
    start = peak()
    gradients = gradient_embeddings(features, residuals, list(order.split(4)))
    embedded = peak()
    matching_pursuit(gradients, gradients.mean(dim=0), 40)
    return embedded - start, peak() - embedded

work(50)
print(*work(4000))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss")
def test_memory_for_4000_gradients_of_5130_numbers_is_bounded() -> None:
    """They take 78 MiB: a copy in double precision would take twice that."""
    embedding, pursuit = map(float, printed(MEMORY).split())
    assert 70 < embedding < 200e6 / 2**20
    assert pursuit < 39
