"""A whole experiment on the pretended GPU, in all its processes: Snakemake, Ray, meter, page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from automata.records import Record, read_record
from benchmarks.gpu.checks import undated
from support.pretence import NAME, WATTS

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def on_gpu(make_workflow: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Record]:
    """The records of the smoke experiment by their runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(TESTS / "support/pretended"), str(TESTS)]))
        workflow = make_workflow(tmp_path_factory.mktemp("gpu"), {"compute": {"device": "cuda"}})
        workflow.run()
    assert (workflow.folder / "results/smoke/index.html").exists()
    return records(workflow)


def records(workflow: Any) -> dict[str, Record]:
    """Return the records of a workflow that has run, by their selectors."""
    found = [read_record(workflow.folder / path) for path in workflow.records]
    return {record.job.run.selector: record for record in found}


def test_trials_and_refit_are_those_on_the_cpu(on_gpu: dict[str, Record], finished: Any) -> None:
    on_cpu = records(finished)
    assert set(on_gpu) == set(on_cpu) == {"full", "gradmatch"}
    for selector, record in on_gpu.items():
        expected = on_cpu[selector]
        assert undated(record.tuning.model_dump()["trials"]) == undated(
            expected.tuning.model_dump()["trials"]
        )
        # A GPU adds up the loss of more rows at once.
        assert record.test.model_dump() == pytest.approx(expected.test.model_dump())


def test_record_names_the_gpu_and_has_its_energy(on_gpu: dict[str, Record]) -> None:
    for record in on_gpu.values():
        assert record.provenance["device"] == NAME
        for segment in record.tuning.segments:
            (channel,) = [it for it in segment.measurement.channels if it.device == "gpu"]
            assert (channel.method, channel.source) == ("measured", "pyJoules NVML")
            watts = (channel.joules or 0) / segment.measurement.wall_seconds
            assert watts == pytest.approx(WATTS, rel=0.05)
