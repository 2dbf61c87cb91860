"""How many threads a process computes with."""

from __future__ import annotations

import subprocess
import sys

LIMITED = """
import numpy, torch
from threadpoolctl import threadpool_info
from automata.training.device import limit_threads
limit_threads(1)
import scipy.linalg
print(torch.get_num_threads(), {pool["num_threads"] for pool in threadpool_info()})
print(float(torch.tensor(1e-39) * 1) == 0)
"""


def test_a_limit_of_threads_holds_for_torch_numpy_and_what_is_imported_later() -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True)
    assert done.stdout.strip() == "1 {1}\nTrue", done.stderr
