"""The package of the solvers: its names, and the cost of importing them."""

import subprocess
import sys

import pytest

import automata.selection
from automata.selection.embeddings import gradient_embeddings
from automata.selection.facility import facility_location
from automata.selection.matching import matching_pursuit


def test_solvers_are_attributes_of_the_package():
    solvers = [getattr(automata.selection, name) for name in automata.selection.__all__]
    assert solvers == [facility_location, gradient_embeddings, matching_pursuit]


@pytest.mark.parametrize("module", ["automata.selection", "automata.registry"])
def test_the_names_of_selectors_cost_no_library(module):
    libraries = "{'torch', 'scipy', 'numpy', 'pandas'}"
    code = f"import sys, {module}; print({libraries} & {{*sys.modules}})"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\n"
