"""An existing Ray cluster for the trials of one job: looked over before, left alive after."""

from __future__ import annotations

import json
import math
import os
import platform
import secrets
import socket
from collections import defaultdict
from collections.abc import Iterable
from operator import itemgetter
from pathlib import Path
from typing import Any

import ray
import torch
from ray._private import services
from ray._raylet import GcsClient  # type: ignore[attr-defined]
from ray.exceptions import AuthenticationError, RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from automata.config.machine import Compute
from automata.datasets.prepared import read_dataset
from automata.errors import UserError
from automata.metering.elsewhere import Stopwatch
from automata.records import Cluster, Node
from automata.training.device import may_use_gpu
from automata.tuning import nodes
from automata.tuning.log import Reported
from automata.tuning.ray_session import ENVIRONMENT, gpu_share

CONNECT_SECONDS = 5.0
"""Until a port that does not answer counts as closed."""

LOOK_SECONDS = 120.0
"""Until a node that does not answer counts as broken; a cold one starts a worker first."""

NOT_METERED = "trials ran on a Ray cluster: their energy and CPU time were not measured"


class ClusterRay:
    """A connection to a cluster that can run the job; as a context manager it ends it."""

    def __init__(self, address: str, gpus: int, nodes: dict[str, Node]) -> None:
        """Take the `nodes` that are alive, by their addresses."""
        self.address = address
        self.gpus = gpus
        self.nodes = nodes

    def __enter__(self) -> ClusterRay:
        return self

    def __exit__(self, *_: object) -> None:
        ray.shutdown()

    def meter(self) -> Stopwatch:
        """Return what takes the place of a meter: this host's sees nothing of the trials."""
        return Stopwatch(NOT_METERED)


def join_cluster(
    address: str, compute: Compute, device: torch.device, data: Path, work: Path
) -> ClusterRay:
    """Connect to the Ray cluster at `address` and return it, for a job that has the `device`.

    Raises UserError, before any trial, where nobody answers, where this host is no node of it,
    where a node has other software or does not see `data` and the folder `work`, and where the
    trials at once that `compute` asks for have no room.
    """
    os.environ.update(ENVIRONMENT)
    found = _find(address)
    paths = os.environ.get("PYTHONPATH")
    try:
        # Its workers search what this process searches: the project may not be installed there.
        ray.init(
            address=found,
            runtime_env={"env_vars": {"PYTHONPATH": paths}} if paths else None,
        )
    except (ConnectionError, RuntimeError, RayError) as error:
        raise _refused(address, f"cannot connect: {_first_line(error)}") from error
    try:
        everyone = sorted(ray.nodes(), key=itemgetter("NodeName"))
        alive = [node for node in everyone if node["Alive"]]
        wanted = may_use_gpu(compute, read_dataset(data).kind)
        resources = [node["Resources"] for node in alive]
        gpus = usable_gpus(address, wanted, device, resources)
        _check_room(address, compute, gpus, resources)
        processors = _look_over(address, alive, data, work)
    except BaseException:
        ray.shutdown()
        raise
    nodes = {
        node["NodeManagerAddress"]: Node(
            name=node["NodeName"],
            host=node["NodeManagerHostname"],
            cpu=cpu,
            resources=_own(node["Resources"]),
            trials=[],
        )
        for node, cpu in zip(alive, processors, strict=True)
    }
    return ClusterRay(found, gpus, nodes)


def with_trials(address: str, nodes: dict[str, Node], results: Iterable[Reported]) -> Cluster:
    """Return the cluster of these `nodes`, by their addresses, and which trials each trained.

    A trial that paused may go on elsewhere. Nodes that trained and are gone are the last ones.
    """
    trials: defaultdict[str, set[int]] = defaultdict(set)
    for result in results:
        trials[result.node].add(result.index)
    gone = {
        ip: Node(name=ip, host=ip, cpu="gone", resources={}, trials=[])
        for ip in trials
        if ip not in nodes
    }
    return Cluster(
        address=address,
        nodes=[
            node.model_copy(update={"trials": sorted(trials[ip])})
            for ip, node in {**nodes, **gone}.items()
        ],
    )


def room(resources: list[dict[str, float]], threads: int, share: float) -> int:
    """Return how many trials of `threads` CPUs and a `share` of a GPU nodes can run at once."""
    fitting = 0
    for node in resources:
        places = int(node.get("CPU", 0)) // threads
        if share:
            on_each = math.floor(1 / share + 1e-6)  # a trial is on one GPU
            places = min(places, int(node.get("GPU", 0)) * on_each)
        fitting += places
    return fitting


def usable_gpus(
    address: str, wanted: bool, device: torch.device, resources: list[dict[str, float]]
) -> int:
    """Return how many GPUs of the nodes trials may use; the final training, here, takes one, too.

    Raises UserError where one is `wanted`, and that would be on another kind of device than the
    trials.
    """
    if not wanted:
        return 0
    gpus = sum(int(node.get("GPU", 0)) for node in resources)
    here = device.type == "cuda"
    if here != (gpus > 0):
        raise _refused(
            address,
            f"its nodes have {gpus or 'no'} GPUs and this host has {'one' if here else 'none'}: "
            "trials and final training need the same device: start the job on a node that has "
            "what the others have, or set compute.device: cpu",
        )
    return gpus


def _find(address: str) -> str:
    """Return host:port of the cluster; raise UserError if this process cannot work with it.

    Ray itself tries for a minute, and says what it tried in many lines.
    """
    try:
        found = str(services.canonicalize_bootstrap_address_or_die(address))
        host, _, port = found.rpartition(":")
        socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
        gcs = GcsClient(address=found)
        cluster = json.loads(gcs.internal_kv_get(b"CLUSTER_METADATA", b"cluster"))
    except AuthenticationError as error:
        raise _refused(
            address,
            "it wants another token: give its nodes and snakemake the same RAY_AUTH_MODE and "
            "~/.ray/auth_token",
        ) from error
    except (OSError, OverflowError, ValueError, RayError) as error:
        raise _refused(address, f"no Ray cluster answers: {_first_line(error)}") from error
    theirs = (cluster["ray_version"], cluster["python_version"])
    ours = (ray.__version__, platform.python_version())
    if theirs != ours:
        raise _refused(
            address,
            f"it is Ray {theirs[0]} on Python {theirs[1]}, here is Ray {ours[0]} on "
            f"Python {ours[1]}",
        )
    alive = {info.node_id.hex() for info in gcs.get_all_node_info().values() if info.state == 0}
    if not alive & services.find_node_ids():
        raise _refused(
            address,
            f"this host is none of its nodes: run `ray start --address={found}` here, too",
        )
    return found


def _check_room(
    address: str, compute: Compute, gpus: int, resources: list[dict[str, float]]
) -> None:
    """Raise UserError where the trials at once have no room: Ray would wait for it forever."""
    threads, asked = compute.threads_per_trial, compute.concurrent_trials
    share = gpu_share(compute, gpus)
    fitting = room(resources, threads, share)
    if fitting < asked:
        cpus = " + ".join(f"{node.get('CPU', 0):g}" for node in resources)
        on_gpus = f" and {share:g} of a GPU" if share else ""
        raise _refused(
            address,
            f"room for {fitting} trials of {threads} CPUs{on_gpus} on nodes of {cpus} CPUs, not "
            f"for compute.concurrent_trials: {asked}",
        )


def _look_over(address: str, alive: list[dict[str, Any]], data: Path, work: Path) -> list[str]:
    """Return the processor of each node; raise UserError for one that trials cannot run on."""
    size, ours = data.stat().st_size, nodes.software()
    mark = work.resolve() / f"mark-{secrets.token_hex(8)}"
    mark.touch()
    try:
        answers = [
            _look_of(node, str(data.resolve()), size, str(mark.parent), mark.name) for node in alive
        ]
        processors = []
        for node, answer in zip(alive, answers, strict=True):
            try:
                view = ray.get(answer, timeout=LOOK_SECONDS)
            except RayError as error:
                raise _broken(address, node, _first_line(error)) from error
            trouble = view if isinstance(view, str) else _differing(view["software"], ours)
            trouble = trouble or view["trouble"]
            if trouble:
                raise _broken(address, node, trouble)
            processors.append(view["cpu"])
    finally:
        mark.unlink()
    return processors


def _look_of(node: dict[str, Any], *arguments: Any) -> ray.ObjectRef[Any]:
    """Ask `node` what it has: it answers as `nodes.look_around` does, or with an error's text."""

    def look() -> Any:  # not by name: a node without the package must be able to say so
        try:
            from automata.tuning.nodes import look_around
        except ImportError as error:
            return str(error)
        return look_around(*arguments)

    there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
    task = ray.remote(num_cpus=0, max_retries=0, scheduling_strategy=there)(look)
    return task.remote()


def _differing(theirs: dict[str, str | None], ours: dict[str, str | None]) -> str:
    """Return which versions differ, and how; nothing if none does."""
    return ", ".join(
        f"{name} {theirs.get(name)}, here {version}"
        for name, version in ours.items()
        if theirs.get(name) != version
    )


def _own(resources: dict[str, float]) -> dict[str, float]:
    """Return the resources of a node less those that only name it."""
    return {key: value for key, value in sorted(resources.items()) if "node:" not in key}


def _broken(address: str, node: dict[str, Any], trouble: str) -> UserError:
    named = f"node {node['NodeName']} ({node['NodeManagerHostname']})"
    return _refused(address, f"{named}: {trouble}")


def _refused(address: str, reason: str) -> UserError:
    return UserError(f"ray.address: {address}: {reason}")


def _first_line(error: BaseException) -> str:
    if isinstance(error, RayTaskError):
        error = error.cause
    return str(error).strip().partition("\n")[0] or type(error).__name__
