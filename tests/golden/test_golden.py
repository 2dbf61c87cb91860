"""Training, selection, search and small jobs compute what they did when it was stored."""

import json

import pytest

from golden import jobs, runs
from golden.store import agrees, platform, read

STORED, RECORDS = read(runs.STORED), read(jobs.STORED)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if "resnet" in name else ()) for name in runs.RUNS],
)
def test_a_run_computes_what_is_stored(name):
    store = "cd tests && python -m golden.runs"
    assert name in STORED, f"nothing is stored yet: {store}"
    assert agrees(json.loads(json.dumps(runs.RUNS[name]())), STORED[name]), (
        f"{name}: not as stored. Mend the change; or raise MEASUREMENT in "
        "automata/records/provenance.py, so that no new run is compared with an older one, and "
        f"replace the values: {store} '{name}'"
    )


@pytest.mark.parametrize("name", jobs.JOBS)
def test_a_job_has_the_record_that_is_stored(name, tmp_path):
    if RECORDS[name]["platform"] != platform():
        pytest.skip(f"the record is of another platform: {RECORDS[name]['platform']}")
    assert agrees(json.loads(json.dumps(jobs.done(name, tmp_path))), RECORDS[name])
