"""Private parts of Ray only save time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ray._private.node import Node

from automata.tuning import ray_private
from automata.tuning.ray_private import accelerated, keep_workers
from golden.jobs import done

NAME = "two trials at once"
WITHOUT = f"""
import json, sys
from pathlib import Path
from automata.tuning import ray_private, ray_search
from automata.tuning.job import run
from golden.jobs import JOBS, data_of, outcome
ray_private.REPLACED = ()
ray_search.keep_workers = lambda *_: None
if sys.argv[1:]:
    folder = Path(sys.argv[1])
    print(json.dumps(outcome(*run(JOBS[{NAME!r}], data_of(folder), folder / "work"))))
"""


@pytest.mark.slow
def test_without_them_a_job_has_the_same_record(tmp_path: Path) -> None:
    paths = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    command = [sys.executable, "-c", WITHOUT, str(tmp_path)]
    shown = subprocess.run(command, env=kept | paths, stdout=subprocess.PIPE, text=True, check=True)
    (with_them := tmp_path / "with").mkdir()
    expected = json.loads(json.dumps(done(NAME, with_them)))
    assert json.loads(shown.stdout.splitlines()[-1]) == expected


def test_parts_that_a_version_lacks_are_passed_over(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    before = vars(Node)["start_monitor"]
    found = ("ray._private.node.Node", "start_monitor", None)
    lacking = [("ray.no_such", "it", 0), ("ray._private.node.Node", "no_such", 0)]
    monkeypatch.setattr(ray_private, "REPLACED", [*lacking, found])
    with caplog.at_level("DEBUG", "automata"), accelerated():
        assert vars(Node)["start_monitor"] is None
        trial: Any = SimpleNamespace(placement_group_factory=None)
        keep_workers(SimpleNamespace(), trial, 2)
    assert vars(Node)["start_monitor"] is before
    assert [record.levelname for record in caplog.records] == ["DEBUG"] * 3
