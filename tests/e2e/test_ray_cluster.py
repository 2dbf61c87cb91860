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
from support.searching import SPACE, make_job

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

# Trials must last longer than the start of a node's worker, or one node trains them all.
WIDE = {"hidden1": {"choice": [300]}, "hidden2": {"choice": [300]}, "batch_size": {"choice": [16]}}
RUN = {"scheduler": "none", "selector": "full"}
JOB = make_job(2, RUN, configurations=2, epochs=250, search_space={**SPACE, **WIDE})
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


def tune(cluster, job, folder, **variables):
    """Return the record of a job on the cluster, run with these variables of the environment."""
    data, output = folder / "dna.safetensors", folder / "record.json"
    write_dataset(prepare("dna", Preparation(), folder), data)
    address, environment = cluster
    environment = {**environment, "AUTOMATA_RAY_ADDRESS": address, **variables}
    code = "import sys; from automata.cli import main; main(sys.argv[1:])"
    arguments = ["tune", data, "--job", job.model_dump_json(), "--work", folder / "work"]
    done = python(environment, code, *arguments, "--output", output)
    assert done.returncode == 0, done.stderr
    return read_record(output)


def test_search_over_two_nodes_has_a_time_and_no_energy(cluster, tmp_path):
    tuning = tune(cluster, JOB, tmp_path).tuning
    first, second = (trial.progress for trial in tuning.trials)
    began = second.evaluations[-1].finished_at - second.seconds.training
    assert began < first.evaluations[-1].finished_at, "each node has a CPU for one trial"
    assert tuning.cluster == {"address": cluster[0]}
    search = tuning.measurement
    assert search.wall_seconds > first.seconds.training
    assert (search.energy_joules, search.cpu_seconds, search.flags) == (None, None, ["elsewhere"])
    assert "trials ran on a Ray cluster" in search.notes[0]


WHERE = """
from pathlib import Path

import ray
from torch import nn

class Linear(nn.Module):
    def __init__(self, inputs, classes):
        super().__init__()
        self.head = nn.Linear(inputs, classes)
        with Path(__file__).with_name("where.txt").open("a") as file:
            print(ray.util.get_node_ip_address(), file=file)

    def features(self, inputs):
        return inputs

def build(dataset, configuration):
    return Linear(dataset.train.inputs.shape[1], dataset.classes)
"""
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
    (tmp_path / "where.py").write_text(WHERE)
    space = {"learning_rate": {"uniform": [0.01, 0.02]}, "batch_size": {"choice": [16]}}
    untuned = {"selector": "untuned"}  # without a search: all its trials are final trainings
    job = make_job(1, untuned, model={"factory": "where:build"}, search_space=space)
    occupied = [sys.executable, "-c", OCCUPY, cluster[0]]
    with subprocess.Popen(occupied, env=cluster[1], stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout.readline() == "occupied\n"
            final = tune(cluster, job, tmp_path, PYTHONPATH=str(tmp_path)).final
        finally:
            other.kill()
    assert final.measurement.flags == ["elsewhere"]
    assert final.progress.epochs == 9
    places = (tmp_path / "where.txt").read_text().splitlines()
    assert "127.0.0.3" in places


def test_a_folder_that_a_node_does_not_see_is_one_line(cluster, tmp_path):
    code = "import sys, pathlib; from automata.tuning.ray_session import users_ray as ray\n"
    code += "ray(sys.argv[1], pathlib.Path(sys.argv[2])).__enter__()"
    missing = tmp_path / "missing"
    (line,) = python(cluster[1], code, cluster[0], missing).stderr.splitlines()[-1:]
    node = f"{socket.gethostname()} has no {missing}"
    assert line.endswith(f": ray.address needs a shared file system: {node}")
