"""The user's own Ray cluster, for the trials of one job."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import ray
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from automata.errors import UserError
from automata.tuning.ray_session import ENVIRONMENT

ANSWER_SECONDS = 120


@contextmanager
def users_ray(address: str, work: Path) -> Iterator[None]:
    """Run the body in the Ray at `address`; UserError if a node does not see the folder `work`."""
    os.environ.update(ENVIRONMENT)
    paths = {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    try:
        if address != "auto":  # with `auto`, Ray fails at once
            host, _, port = address.rpartition(":")
            socket.create_connection((host, int(port)), 5).close()  # Ray would try for minutes
        ray.init(address, runtime_env={"env_vars": paths})
    except (OSError, OverflowError, RuntimeError, ValueError, RayError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"ray.address: {address}: {reason} (docs/cluster.md)") from error
    try:
        for node in [node for node in ray.nodes() if node["Alive"]]:
            affinity = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            exists = ray.remote(num_cpus=0, scheduling_strategy=affinity)(os.path.exists)
            if not ray.get(exists.remote(str(work.resolve())), timeout=ANSWER_SECONDS):
                name = node["NodeManagerHostname"]
                raise UserError(f"ray.address needs a shared file system: {name} has no {work}")
        yield
    finally:
        ray.shutdown()
