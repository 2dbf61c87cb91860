"""A Ray cluster of two nodes on the loopback interface, and jobs whose trials run there."""

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest
import yaml

from automata.config import Preparation
from automata.datasets.prepare import prepare
from automata.datasets.prepared import write_dataset
from automata.records import read_record

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1200)]

# Trials must last longer than the start of a node's worker, or one node trains them all.
EXPERIMENT = {
    "experiment": "cluster",
    "selectors": ["full", "random"],
    "schedulers": ["none"],
    "protocol": {
        "tabular": {
            "configurations": 3,
            "epochs": 150,
            "search_space": {
                "learning_rate": {"uniform": [0.001, 0.01]},
                "optimizer": {"choice": ["adam", "sgd"]},
                "schedule": {"choice": ["none"]},
                "hidden1": {"choice": [300]},
                "hidden2": {"choice": [300]},
                "batch_size": {"choice": [16]},
            },
        }
    },
    "compute": {"device": "cpu", "concurrent_trials": 2},
}


def environment(**changes):
    """Return the environment of nodes and jobs; Ray's token is one of these tests alone."""
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "OMP_NUM_THREADS": "1",
        "RAY_AUTH_MODE": "token",
        "RAY_USAGE_STATS_ENABLED": "0",
        **changes,
    }


class RayNodes:
    """The nodes of a cluster: each a `ray start --block` with an address of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = environment(RAY_AUTH_TOKEN=secrets.token_hex(16))
        with socket.socket() as free:
            free.bind(("127.0.0.2", 0))
            self.address = f"127.0.0.2:{free.getsockname()[1]}"

    def start(self, name, ip, *, head=False, prefix=()):
        """Start a node of one CPU; return its process once the cluster knows it."""
        place = ["--head", "--port", self.address.split(":")[1]] if head else []
        place += [] if head else ["--address", self.address]
        ray = str(Path(sys.executable).with_name("ray"))
        command = [*prefix, ray, "start", "--block", *place, "--node-name", name]
        command += ["--node-ip-address", ip, "--temp-dir", str(self.folder / name)]
        command += ["--num-cpus=1", "--object-store-memory=100000000", "--disable-usage-stats"]
        command += ["--include-dashboard=false"] if head else []
        with (self.folder / f"{name}.log").open("w") as log:
            node = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log)
        wait_for(lambda: node.poll() is not None or name in self.state().get("nodes", []))
        assert node.poll() is None, (self.folder / f"{name}.log").read_text()
        return node

    def state(self):
        """Return names of nodes, free CPUs, actors and placement groups; nothing if it is down."""
        code = (
            "import json, ray; from ray.util import placement_group_table as groups;"
            f"ray.init('{self.address}', logging_level='ERROR');"
            "print(json.dumps({'nodes': sorted(n['NodeName'] for n in ray.nodes() if n['Alive']),"
            "'cpus': ray.available_resources().get('CPU', 0),"
            "'groups': [g['state'] for g in groups().values() if g['state'] != 'REMOVED']}))"
        )
        command = [sys.executable, "-c", code]
        try:
            shown = subprocess.run(
                command, env=self.environment, capture_output=True, text=True, timeout=60
            )
        except subprocess.TimeoutExpired:
            return {}
        return json.loads(shown.stdout) if shown.returncode == 0 else {}

    def processes(self, pattern=""):
        """Return the processes of all nodes, those below a raylet included, by their command."""
        raylets = [p for p in psutil.process_iter() if str(self.folder) in line(p)]
        below = [child for p in raylets for child in children(p)]
        return [p for p in {*raylets, *below} if pattern in line(p)]


def line(process):
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def children(process):
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def wait_for(condition, seconds=180):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.5)


def stop(*processes):
    for process in processes:
        process.terminate()
    for process in processes:
        process.wait(60)


@pytest.fixture(scope="module")
def cluster():
    """Two nodes of one CPU each; nothing of them is left afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="rc-", dir="/tmp"))  # sockets need short paths
    nodes = RayNodes(folder)
    started = []
    try:
        started.append(nodes.start("first", "127.0.0.2", head=True))
        started.append(nodes.start("second", "127.0.0.3"))
        yield nodes
    finally:
        stop(*reversed(started))
        shutil.rmtree(folder)
        left = nodes.processes()
    assert left == []


def snakemake(folder, cluster, address, *options):
    own = folder / "own.yaml"
    own.write_text(yaml.safe_dump({**EXPERIMENT, "ray": {"address": address}}))
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--quiet", "all", "--snakefile"]
    command += [ROOT / "workflow/Snakefile", "--directory", folder]
    command += ["--configfile", ROOT / "config/smoke.yaml", own, *options]
    return subprocess.run(command, env=cluster.environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def folders(cluster, tmp_path_factory):
    """The same experiment on the cluster and in a Ray of the job's own, by the address."""
    both = {}
    for address, options in ((cluster.address, []), (None, ["--until", "tune"])):
        both[address] = folder = tmp_path_factory.mktemp("experiment")
        done = snakemake(folder, cluster, address, *options)
        assert done.returncode == 0, done.stdout + done.stderr
    return both


def records(folder):
    return {
        path.parts[-3]: read_record(path) for path in folder.glob("results/runs/**/record.json")
    }


def outcome(record):
    trials = [
        (t.configuration, [(e.epoch, e.accuracy, e.loss) for e in t.progress.evaluations])
        for t in record.tuning.trials
    ]
    return trials, record.tuning.best, record.test


@pytest.mark.parametrize("run", ["full-1", "random-0.1"])
def test_results_are_those_of_a_local_ray(folders, cluster, run):
    there, here = (records(folders[address])[run] for address in (cluster.address, None))
    assert outcome(there) == outcome(here)


def test_trials_ran_on_both_nodes_at_once(folders, cluster):
    nodes = records(folders[cluster.address])["full-1"].tuning.cluster.nodes
    assert [node.name for node in nodes] == ["first", "second"]
    assert all(node.trials for node in nodes)
    assert sorted(index for node in nodes for index in node.trials) == [0, 1, 2]


def test_record_claims_no_energy_of_trials_elsewhere(folders, cluster):
    record = records(folders[cluster.address])["random-0.1"]
    tuning, final = record.tuning.measurement, record.final.measurement
    assert (tuning.energy_joules, tuning.cpu_seconds, tuning.flags) == (None, None, ["elsewhere"])
    assert final.cpu_seconds > 0
    assert "elsewhere" not in final.flags


def test_experiment_ends_with_its_page(folders, cluster):
    page = (folders[cluster.address] / "results/cluster/index.html").read_text()
    assert f"{socket.gethostname()}, trials on {socket.gethostname()}" in page


def test_cluster_lives_on_and_is_idle(folders, cluster):
    assert cluster.state() == {"nodes": ["first", "second"], "cpus": 2.0, "groups": []}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "dna.safetensors"
    write_dataset(prepare("dna", Preparation(), path.parent), path)
    return path


@pytest.fixture
def tune(cluster, data, tmp_path):
    """Gives the command of a job on the cluster; `patch` is code that runs before it."""

    def command(patch="", address=cluster.address, **compute):
        protocol = {"model": "mlp", "reselect_every": 1, **EXPERIMENT["protocol"]["tabular"]}
        settings = {
            "protocol": protocol,
            "compute": {**EXPERIMENT["compute"], **compute},
            "metering": {"exclusive": False},
        }
        axes = ["--dataset=dna", "--search=random", "--scheduler=none", "--selector=full"]
        axes += ["--fraction=1", "--seed=0", "--settings", json.dumps(settings)]
        files = ["--work", tmp_path / "work", "--output", tmp_path / "record.json"]
        code = f"{patch}\nimport sys; from automata.cli import main; main(sys.argv[1:])"
        return [sys.executable, "-c", code, "tune", data, *axes, "--ray-address", address, *files]

    return command


def refusal(command, environment):
    """Return the line that a job ends with."""
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1
    return ended.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("patch", "compute", "expected"),
    [
        (
            "import ray; ray.__version__ = '2.59.1'",
            {},
            "it is Ray 2.60.0 on Python {python}, here is Ray 2.59.1 on Python {python}",
        ),
        (
            "import platform; platform.python_version = lambda: '3.12.0'",
            {},
            "it is Ray 2.60.0 on Python {python}, here is Ray 2.60.0 on Python 3.12.0",
        ),
        (
            "from automata.tuning import nodes; nodes.code_versions = lambda: {'': 'other'}",
            {},
            "node first ({host}): code {code}, here other",
        ),
        (
            "from automata.tuning import nodes; old = nodes.installed_version\n"
            "nodes.installed_version = lambda name: '1.0' if name == 'torch' else old(name)",
            {},
            "node first ({host}): torch {torch}, here 1.0",
        ),
        (
            "from ray._private import services; services.find_node_ids = set",
            {},
            "this host is none of its nodes: run `ray start --address={address}` here, too",
        ),
        (
            "",
            {"concurrent_trials": 3},
            "room for 2 trials of 1 CPUs on nodes of 1 + 1 CPUs, not for "
            "compute.concurrent_trials: 3",
        ),
        (
            "",
            {"threads_per_trial": 2},
            "room for 0 trials of 2 CPUs on nodes of 1 + 1 CPUs, not for "
            "compute.concurrent_trials: 2",
        ),
    ],
)
def test_job_that_cannot_run_there_ends_with_one_line(cluster, tune, patch, compute, expected):
    import platform

    from automata.tuning.nodes import software

    ours = software()
    known = {"code": ours["code"], "torch": ours["torch"], "python": platform.python_version()}
    line = expected.format(host=socket.gethostname(), address=cluster.address, **known)
    prefix = f"automata tune: error: ray.address: {cluster.address}: "
    assert refusal(tune(patch, **compute), cluster.environment) == prefix + line


def test_auto_is_the_cluster_that_ray_finds(cluster, tune):
    found = {**cluster.environment, "RAY_ADDRESS": cluster.address}
    line = refusal(tune(address="auto", concurrent_trials=3), found)
    assert line.startswith("automata tune: error: ray.address: auto: room for 2 trials")


def test_another_token_is_one_line(cluster, tune):
    other = {**cluster.environment, "RAY_AUTH_TOKEN": "0" * 32}
    assert "it wants another token" in refusal(tune(), other)


def test_killed_job_leaves_no_trial_behind(cluster, tune):
    job = subprocess.Popen(tune(), env=cluster.environment, stderr=subprocess.DEVNULL)
    wait_for(lambda: cluster.processes("ray::TuneTrial"))
    job.send_signal(signal.SIGKILL)
    job.wait()
    wait_for(lambda: not cluster.processes("ray::TuneTrial"))
    wait_for(lambda: cluster.state()["cpus"] == 2.0)
    assert cluster.state() == {"nodes": ["first", "second"], "cpus": 2.0, "groups": []}


def may_mount():
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0


@pytest.mark.skipif(not may_mount(), reason="may not hide a folder from a node (unshare --mount)")
@pytest.mark.parametrize(
    ("hidden", "expected"),
    [
        ("data", "{data}: No such file or directory"),
        ("work", "{work} is another folder there, or none"),
    ],
)
def test_node_that_does_not_see_the_files_is_named(cluster, tune, data, tmp_path, hidden, expected):
    folder = {"data": data.parent, "work": tmp_path}[hidden]
    mount = 'mount -t tmpfs none "$0" && exec "$@"'
    third = cluster.start(
        hidden, "127.0.0.4", prefix=["unshare", "--mount", "sh", "-c", mount, str(folder)]
    )
    try:
        line = refusal(tune(), cluster.environment)
    finally:
        stop(third)
        wait_for(lambda: cluster.state().get("nodes") == ["first", "second"])
    problem = expected.format(data=data, work=tmp_path / "work")
    assert line.endswith(f"node {hidden} ({socket.gethostname()}): {problem}")
