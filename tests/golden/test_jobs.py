"""Jobs have the records that they had before finalists were trials."""

import json

import pytest

from golden.jobs import JOBS, done, platform, stored

STORED = stored()


@pytest.mark.parametrize("name", JOBS)
def test_a_job_has_the_record_that_is_stored(name, tmp_path):
    if STORED["platform"] != platform():
        pytest.skip(f"the records are of another platform: {STORED['platform']}")
    assert json.loads(json.dumps(done(name, tmp_path))) == STORED[name]
