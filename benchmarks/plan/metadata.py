"""`python -m benchmarks.plan.metadata FOLDER CONFIG...`: write Snakemake's metadata of all runs.

Snakemake writes it from its plan, as after each run; `--touch` would sleep 0.1 s for each run.
The prepared files must exist, but may be empty.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from snakemake.api import SnakemakeApi
from snakemake.scheduling.greedy import SchedulerSettings
from snakemake.settings.types import (
    ConfigSettings,
    DAGSettings,
    OutputSettings,
    Quietness,
    ResourceSettings,
    SchedulingSettings,
    StorageSettings,
)

ROOT = Path(__file__).parents[2]


def main() -> None:
    """Write the metadata of every run of the grid."""
    folder, *files = map(Path, sys.argv[1:])
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        workflow = api.workflow(
            resource_settings=ResourceSettings(cores=1),
            config_settings=ConfigSettings(configfiles=files),
            storage_settings=StorageSettings(),
            snakefile=ROOT / "workflow/Snakefile",
            workdir=folder,
        )
        workflow.dag(DAGSettings(forcerun={"tune"})).execute_workflow(
            executor="dryrun",
            scheduling_settings=SchedulingSettings(scheduler="greedy"),
            scheduler_settings=SchedulerSettings(),
        )
        asyncio.run(_finish(workflow._workflow))  # there is no public way


async def _finish(workflow: Any) -> None:
    for job in workflow.dag.jobs:
        if job.rule.name == "tune":
            await workflow.persistence.finished(job)


if __name__ == "__main__":
    main()
