"""A search over a Ray cluster: two nodes of one CPU each, on this machine."""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from automata.config.data import Preparation
from automata.datasets.prepare import prepare
from automata.datasets.prepared import write_dataset
from automata.records.record import read_record
from support.searching import make_job

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

SPACE = {"learning_rate": {"uniform": [0.01, 0.02]}, "batch_size": {"choice": [16]}}
MODEL = """
import time
from pathlib import Path

import ray
from torch import nn

NODES = {"127.0.0.2", "127.0.0.3"}
WHERE, MEET = (Path(__file__).with_name(name) for name in ("where.txt", "meet"))

class Linear(nn.Module):
    def __init__(self, inputs, classes):
        super().__init__()
        self.head = nn.Linear(inputs, classes)
        address = ray.util.get_node_ip_address()
        with WHERE.open("a") as file:
            print(address, file=file)
        while MEET.exists() and address in NODES and not NODES <= {*WHERE.read_text().split()}:
            time.sleep(0.05)

    def features(self, inputs):
        return inputs

def build(dataset, configuration):
    return Linear(dataset.train.inputs.shape[1], dataset.classes)
"""
WAIT = "import ray, time; ray.init('{}')\nwhile len(ray.nodes()) < 2: time.sleep(0.1)"


@pytest.fixture(scope="module")
def cluster():
    """The address of two nodes, and the environment with their token."""
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(16)}
    environment = {**os.environ, **token, "OMP_NUM_THREADS": "1", "RAY_USAGE_STATS_ENABLED": "0"}
    with socket.socket() as free:
        free.bind(("127.0.0.2", 0))
        address = f"127.0.0.2:{free.getsockname()[1]}"
    folder = tempfile.mkdtemp(prefix="rc-", dir="/tmp")  # sockets need short paths
    start = [str(Path(sys.executable).with_name("ray")), "start", "--block", "--num-cpus=1"]
    start += ["--object-store-memory=100000000"]
    head = ["--head", "--port", address.split(":")[1], "--include-dashboard=false"]
    head += ["--node-ip-address=127.0.0.2", "--temp-dir", folder]
    other = ["--address", address, "--node-ip-address=127.0.0.3"]
    nodes = []
    try:
        nodes += [subprocess.Popen([*start, *place], env=environment) for place in (head, other)]
        wait = [sys.executable, "-c", WAIT.format(address)]
        subprocess.run(wait, env=environment, check=True, timeout=180)
        yield address, environment
    finally:
        for node in reversed(nodes):
            node.terminate()
            node.wait(60)
        shutil.rmtree(folder)


def python(environment, code, *arguments):
    """Return Python code that has run in the environment of the cluster."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)


def tune(cluster, folder, run, configurations=1):
    """Return the record of a job on the cluster, and the nodes on which its model was built."""
    (folder / "where.py").write_text(MODEL)
    protocol = {"model": {"factory": "where:build"}, "configurations": configurations}
    job = make_job(configurations, run, search_space=SPACE, **protocol)
    data, output = folder / "dna.safetensors", folder / "record.json"
    write_dataset(prepare("dna", Preparation(), folder), data)
    address, environment = cluster
    environment = {**environment, "AUTOMATA_RAY_ADDRESS": address, "PYTHONPATH": str(folder)}
    code = "import sys; from automata.cli import main; main(sys.argv[1:])"
    arguments = ["tune", data, "--job", job.model_dump_json(), "--work", folder / "work"]
    done = python(environment, code, *arguments, "--output", output)
    assert done.returncode == 0, done.stderr
    return read_record(output), set((folder / "where.txt").read_text().splitlines())


def test_search_over_two_nodes_has_a_time_and_no_energy(cluster, tmp_path):
    run = {"scheduler": "none", "selector": "full"}
    (tmp_path / "meet").touch()  # the first trial waits until the other node has one
    record, nodes = tune(cluster, tmp_path, run, configurations=2)
    assert {"127.0.0.2", "127.0.0.3"} <= nodes, "two trials at once, one on each"
    tuning = record.tuning
    assert tuning.cluster == {"address": cluster[0]}
    search = tuning.measurement
    assert search.wall_seconds > tuning.trials[0].progress.seconds.training
    assert (search.energy_joules, search.cpu_seconds, search.flags) == (None, None, ["elsewhere"])
    assert "trials ran on a Ray cluster" in search.notes[0]


OCCUPY = """
import sys, time, ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
ray.init(sys.argv[1])
(head,) = [it["NodeID"] for it in ray.nodes() if it["NodeManagerAddress"] == "127.0.0.2"]
here = NodeAffinitySchedulingStrategy(head, soft=False)
task = ray.remote(num_cpus=1, scheduling_strategy=here)(lambda: time.sleep(600)).remote()
print("occupied", flush=True)
ray.get(task)
"""


def test_the_final_training_runs_on_a_node_that_is_not_the_jobs_host(cluster, tmp_path):
    occupied = [sys.executable, "-c", OCCUPY, cluster[0]]
    with subprocess.Popen(occupied, env=cluster[1], stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout.readline() == "occupied\n"
            untuned = {"selector": "untuned"}  # without a search: all trials are final trainings
            record, nodes = tune(cluster, tmp_path, untuned)
        finally:
            other.kill()
    assert record.final.measurement.flags == ["elsewhere"]
    assert record.final.progress.epochs == 9
    assert "127.0.0.3" in nodes


def test_a_folder_that_a_node_does_not_see_is_one_line(cluster, tmp_path):
    code = "import sys, pathlib; from automata.tuning.ray_session import users_ray as ray\n"
    code += "ray(sys.argv[1], pathlib.Path(sys.argv[2])).__enter__()"
    missing = tmp_path / "missing"
    (line,) = python(cluster[1], code, cluster[0], missing).stderr.splitlines()[-1:]
    node = f"{socket.gethostname()} has no {missing}"
    assert line.endswith(f": ray.address needs a shared file system: {node}")
