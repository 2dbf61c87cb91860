"""Training, selection and search compute what they did when MEASUREMENT got its entries."""

import json

import pytest

from golden.runs import RUNS, STORED
from golden.store import agrees, read

GOLDEN = read(STORED)


@pytest.mark.parametrize("name", RUNS)
def test_a_run_computes_what_is_stored(name):
    store = "cd tests && python -m golden.runs"
    assert name in GOLDEN, f"nothing is stored yet: {store}"
    assert agrees(json.loads(json.dumps(RUNS[name]())), GOLDEN[name]), (
        f"{name}: not as stored. Mend the change; or raise MEASUREMENT in "
        "automata/records/provenance.py, so that no new run is compared with an older one, and "
        f"replace the values: {store} '{name}'"
    )
