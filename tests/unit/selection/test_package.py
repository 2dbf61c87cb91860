"""The solvers without the pipeline: names, cost of importing, memory."""

import subprocess
import sys

import pytest

import automata.selection
from automata.selection.embeddings import gradient_embeddings
from automata.selection.facility import facility_location
from automata.selection.matching import matching_pursuit


def printed(code):
    """Return what `code` prints in a fresh Python."""
    return subprocess.check_output([sys.executable, "-c", code], text=True).strip()


def test_solvers_are_attributes_of_the_package_and_an_unknown_name_is_an_error():
    solvers = [getattr(automata.selection, name) for name in automata.selection.__all__]
    assert solvers == [facility_location, gradient_embeddings, matching_pursuit]
    with pytest.raises(AttributeError, match=r"automata\.selection' has no attribute 'matching_p'"):
        automata.selection.matching_p  # noqa: B018


@pytest.mark.parametrize("code", ["import automata.selection", "import automata.registry"])
def test_the_names_of_selectors_cost_no_library(code):
    libraries = "{'torch', 'scipy', 'numpy', 'pandas'}"
    assert printed(f"import sys; {code}; print({libraries} & set(sys.modules))") == "set()"


MEMORY = """
import torch
from pathlib import Path
from automata.selection import gradient_embeddings, matching_pursuit
torch.set_num_threads(1)

def mebibytes(line):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(text.split()[1]) for text in lines if text.startswith(line)) / 1024

def added(n):
    "Return the maximum of the memory that `n` gradients add."
    batches = list(torch.arange(4 * n).split(4))
    features, residuals = torch.rand(4 * n, 512), torch.rand(4 * n, 10) - 0.5
    Path("/proc/self/clear_refs").write_text("5")  # it resets the peak
    before = mebibytes("VmRSS")
    gradients = gradient_embeddings(features, residuals, batches)
    matching_pursuit(gradients, gradients.mean(dim=0), 40)
    return mebibytes("VmHWM") - before

added(50)
print(added(4000))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_for_4000_gradients_of_5130_numbers_is_bounded():
    """They take 78 MiB: a copy in double precision would take twice that."""
    assert 70 < float(printed(MEMORY)) < 150
