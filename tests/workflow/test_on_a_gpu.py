"""A whole experiment on the pretended GPU, in all its processes: Snakemake, Ray, meter, page."""

import os

import pytest

from automata.records.record import read_record
from benchmarks.gpu.checks import undated
from support.pretence import NAME

from .conftest import ROOT, Workflow

pytestmark = pytest.mark.slow


def records(workflow):
    """Return the records of a workflow that has run, by their selectors."""
    found = [read_record(workflow.folder / path) for path in workflow.records]
    return {record.job.run.selector: record for record in found}


@pytest.fixture(scope="module")
def on_gpu(tmp_path_factory):
    """The records of the smoke experiment on the GPU."""
    workflow = Workflow(tmp_path_factory.mktemp("gpu"), {"compute": {"device": "cuda"}})
    with pytest.MonkeyPatch.context() as patch:
        places = [ROOT / "tests/support/pretended", ROOT / "tests"]
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, places)))
        workflow.run()
    assert (workflow.folder / "results/smoke/index.html").exists()
    return records(workflow)


def test_trials_and_finalists_are_those_on_the_cpu(on_gpu, finished):
    on_cpu = records(finished)
    assert set(on_gpu) == set(on_cpu) == {"full", "gradmatch"}
    for selector, record in on_gpu.items():
        trials, expected = (
            undated(found[selector].tuning.model_dump()["trials"]) for found in (on_gpu, on_cpu)
        )
        assert trials == expected
        assert record.test.answers == on_cpu[selector].test.answers
        # A GPU adds up the loss of more rows at once.
        one, other = (it.test.model_dump(exclude={"answers"}) for it in (record, on_cpu[selector]))
        assert one == pytest.approx(other)


def test_record_names_the_gpu_and_has_its_energy(on_gpu):
    for record in on_gpu.values():
        assert record.provenance["device"] == NAME
        for segment in record.tuning.segments:
            (channel,) = [it for it in segment.measurement.channels if it.device == "gpu"]
            assert (channel.method, channel.source) == ("measured", "pyJoules NVML")
            assert channel.joules > 0
