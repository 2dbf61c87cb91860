"""The workflow, in this process or as a command, in a folder of its own."""

import os
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import yaml
from snakemake.api import SnakemakeApi
from snakemake.scheduling.greedy import SchedulerSettings
from snakemake.settings import types

ROOT = Path(__file__).parents[2]
PROFILE = yaml.safe_load((ROOT / "workflow/profiles/default/profile.yaml").read_text())


RECORD = "results/runs/dna/random-hyperband-4af660c7/{}/seed-0/record.json"
"""Path of a record of the smoke experiment by its selector and fraction."""


def snakemake(
    folder: Path,
    *arguments: object,
    root: Path = ROOT,
    status: int = 0,
    cores: tuple[str, ...] = ("--cores", "2"),
    **environment: str,
) -> str:
    """Run `snakemake` on the workflow of `root` in `folder`; return what is on the screen."""
    command = [sys.executable, "-m", "snakemake", *cores]
    command += ["--snakefile", root / "workflow/Snakefile", *arguments]
    ended = subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert ended.returncode == status, ended.stdout[-3000:]
    assert "Traceback" not in ended.stdout
    return ended.stdout


@dataclass
class Workflow:
    """A working directory in which rules run for real."""

    folder: Path
    config: dict[str, Any] = field(default_factory=dict)
    configfiles: list[Path] = field(default_factory=lambda: [ROOT / "config/smoke.yaml"])
    snakefile: Path = ROOT / "workflow/Snakefile"
    jobs: Counter[str] = field(default_factory=Counter)
    records: list[str] = field(default_factory=list)
    """Those of the runs that the last plan or run had."""
    threads: dict[str, int] = field(default_factory=dict)
    """Of the jobs of each rule, in the last call."""

    def plan(self, *targets: str) -> Counter[str]:
        """Return how many jobs of each rule a run would have."""
        return self._execute(targets, "dryrun")

    def run(self, *targets: str, **forced: Any) -> Counter[str]:
        """Run the rules behind `targets` and return how many jobs of each rule that took.

        `forced` are settings of Snakemake that repeat finished jobs.
        """
        return self._execute(targets, "local", **forced)

    def _execute(self, targets: tuple[str, ...], executor: str, **forced: Any) -> Counter[str]:
        own = self.folder / "own.yaml"
        own.write_text(yaml.safe_dump(self.config))
        output = types.OutputSettings(quiet={types.Quietness.ALL}, show_failed_logs=True)
        path = patch.object(sys, "path", [*sys.path])  # the Snakefile changes it and os.environ
        with patch.dict(os.environ), path, SnakemakeApi(output) as api:
            workflow = api.workflow(
                resource_settings=types.ResourceSettings(cores=2),
                config_settings=types.ConfigSettings(configfiles=[*self.configfiles, own]),
                storage_settings=types.StorageSettings(),
                snakefile=self.snakefile,
                workdir=self.folder,
            )
            dag = workflow.dag(
                types.DAGSettings(
                    targets=set(targets),
                    rerun_triggers={
                        types.RerunTrigger.parse_choice(name) for name in PROFILE["rerun-triggers"]
                    },
                    **forced,
                )
            )
            dag.execute_workflow(
                executor=executor,
                execution_settings=types.ExecutionSettings(
                    keep_incomplete=PROFILE["keep-incomplete"]
                ),
                scheduling_settings=types.SchedulingSettings(scheduler="greedy"),
                scheduler_settings=SchedulerSettings(),
            )
            jobs = list(workflow._workflow.dag.needrun_jobs(exclude_finished=False))
            self.records = sorted(o for job in jobs for o in job.output if "/runs/" in o)
            self.threads = {job.rule.name: job.threads for job in jobs}
            return Counter(job.rule.name for job in jobs)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Workflow:
    """The smoke experiment, run once from an empty folder; nothing may change it."""
    workflow = Workflow(tmp_path_factory.mktemp("finished"))
    workflow.jobs = workflow.run()
    return workflow


@pytest.fixture
def copy(finished: Workflow, tmp_path: Path) -> Workflow:
    """A copy of the finished experiment, as a clone that brings its results along."""
    shutil.copytree(finished.folder, tmp_path / "copy")
    return Workflow(tmp_path / "copy")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of what the workflow is made of, as a clone has it."""
    for part in ("config", "envs", "workflow", "rules", "src", "studies"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / part, tmp_path / "project" / part, ignore=ignored)
    return tmp_path / "project"


@pytest.fixture
def workflow(tmp_path: Path) -> Workflow:
    """A workflow with the smoke configuration in an empty folder."""
    return Workflow(tmp_path)
