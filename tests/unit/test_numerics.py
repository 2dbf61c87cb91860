"""The settings that a record keeps are those that hold while it is made."""

import json
import subprocess
import sys

import pytest

CODE = """
import json
from automata.provenance import numerics
from automata.training.device import limit_threads
limit_threads({threads})
print(json.dumps(numerics()))
"""


@pytest.fixture(scope="module", params=[1, 2])
def threads(request):
    return request.param


@pytest.fixture(scope="module")
def settings(threads):
    """The settings of a new process after `limit_threads`."""
    command = [sys.executable, "-c", CODE.format(threads=threads)]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def test_torch_has_the_threads_that_it_was_given(settings, threads):
    assert settings["torch"]["num_threads"] == threads


def test_blas_has_the_threads_that_it_was_given(settings, threads):
    assert settings["blas"]
    assert {library["num_threads"] for library in settings["blas"]} == {threads}


def test_numbers_next_to_zero_are_zero(settings):
    assert settings["torch"]["flush_denormal"] is True


def test_environment_is_what_the_process_sees(settings, threads):
    assert settings["environment"]["OPENBLAS_NUM_THREADS"] == str(threads)
