"""Jobs have the records that they had before finalists were trials."""

import json

import pytest

from golden.jobs import JOBS, STORED, done
from golden.store import agrees, platform, read

RECORDS = read(STORED)


@pytest.mark.parametrize("name", JOBS)
def test_a_job_has_the_record_that_is_stored(name, tmp_path):
    if RECORDS[name]["platform"] != platform():
        pytest.skip(f"the record is of another platform: {RECORDS[name]['platform']}")
    assert agrees(json.loads(json.dumps(done(name, tmp_path))), RECORDS[name])
