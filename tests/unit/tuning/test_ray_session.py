"""The Ray of one job, and how its trials share GPUs."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from automata.config.sections import Compute
from automata.errors import UserError
from automata.failures import KEPT
from automata.tuning import ray_session
from automata.tuning.ray_session import gpu_share, local_ray, users_ray


@pytest.mark.parametrize(
    ("trials", "asked", "gpus", "share"),
    [
        (1, None, 0, 0),
        (4, 0.5, 0, 0),
        (1, None, 1, 1),
        (4, None, 1, 0.25),
        (4, None, 2, 0.5),
        (2, None, 8, 1),
        (2, 0.5, 1, 0.5),
        (3, 0.25, 1, 0.25),
        (2, 1.0, 2, 1),
        (3, None, 2, 0.5),
        (5, None, 2, 1 / 3),
    ],
)
def test_share_of_a_trial(trials, asked, gpus, share):
    assert gpu_share(Compute(concurrent_trials=trials, gpu_per_trial=asked), gpus) == share


def test_more_than_there_is_is_one_line():
    with pytest.raises(
        UserError, match=r"gpu_per_trial: 0.5 for 4 .* 1 GPUs here have; .* at most 0.25"
    ):
        gpu_share(Compute(concurrent_trials=4, gpu_per_trial=0.5), 1)


def test_shares_that_do_not_pack_are_refused():
    """Three times 0.6 is less than two GPUs, but only one fits on each."""
    with pytest.raises(UserError, match=r"at most 0\.5"):
        gpu_share(Compute(concurrent_trials=3, gpu_per_trial=0.6), 2)


HOLDING = """
import sys, time
from automata.tuning.ray_session import local_ray
with local_ray(1, 0):
    print(flush=True)
    if sys.argv[1] == "wait":
        time.sleep(300)
    sys.stdin.readline()
print(flush=True)
sys.stdin.readline()
"""


@contextmanager
def holder(until):
    """Yield a process that holds a Ray of its own, and the processes of that Ray."""
    ends = subprocess.PIPE
    command = [sys.executable, "-c", HOLDING, until]
    with subprocess.Popen(command, stdin=ends, stdout=ends, stderr=ends, text=True) as job:
        job.stdout.readline()
        yield job, psutil.Process(job.pid).children(recursive=True)


def test_workers_start_where_the_path_of_python_has_a_blank(tmp_path):
    venv.create(tmp_path / "my env")
    python = tmp_path / "my env/bin/python"
    code = (
        "import ray, sys\nfrom automata.tuning.ray_session import local_ray\n"
        "with local_ray(1, 0): print(ray.get(ray.remote(lambda: sys.executable).remote()))"
    )
    paths = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.run(
        [python, "-c", code], env=os.environ | paths, capture_output=True, text=True, timeout=120
    )
    assert run.stdout.strip().endswith("my env/bin/python")


def test_a_local_ray_runs_neither_autoscaler_nor_dashboard_and_leaves_no_process():
    with holder("line") as (job, family):
        started = {Path(word).name for process in family for word in process.cmdline()}
        job.stdin.write("\n")
        job.stdin.flush()
        job.stdout.readline()
        assert psutil.wait_procs(family, 10)[1] == []
        assert job.poll() is None
        job.communicate("\n")
    assert {"raylet", "log_monitor.py"} <= started
    assert not {"monitor.py", "dashboard.py"} & started


@pytest.mark.parametrize("lost", ["gcs_server", "raylet"])
def test_a_job_that_loses_its_ray_ends_at_once_and_leaves_nothing(lost):
    with holder("wait") as (job, family):
        (folder,) = {word for p in family for word in p.cmdline() if word.startswith("--temp_dir=")}
        next(process for process in family if process.name() == lost).kill()
        began = time.monotonic()
        lines = job.stderr.read().splitlines()
        assert job.wait() == 1
    assert time.monotonic() - began < 10
    assert lines[-1] == f"automata: error: Ray's process {lost} was killed or crashed; {KEPT}"
    assert psutil.wait_procs(family, 10)[1] == []
    assert not Path(folder.removeprefix("--temp_dir=")).exists()


REPORTING = """
import json, os, sys
import ray
from automata.tuning.ray_session import local_ray
with local_ray(1, 0):
    worker = ray.remote(lambda: os.nice(0))
    context = ray.get_runtime_context()
    folder = ray._private.worker._global_node.get_session_dir_path()
    nice = ray.get(worker.remote()) - os.nice(0)
    facts = {"nice": nice, "gcs": context.gcs_address, "at": folder}
    print(json.dumps(facts), flush=True)
    sys.stdin.readline()
"""

JOINING = """
import os, sys
from contextlib import suppress
from pathlib import Path
os.setgroups([])
os.setegid(65534)
os.seteuid(65534)
try:
    os.listdir(sys.argv[2])
    print("entered")
except PermissionError:
    print("kept out")
os.environ["RAY_AUTH_TOKEN"] = "00" * 32
with suppress(OSError):
    os.environ["RAY_AUTH_TOKEN"] = Path(sys.argv[3], ".ray/auth_token").read_text()
os.seteuid(0)  # the other account knows no more; its Python may lie where root alone can read
import ray
try:
    ray.init(address=sys.argv[1])
    print("joined")
except ConnectionError:
    print("refused")
"""


@contextmanager
def reporting(home, **environment):
    """Yield facts about a Ray with that home, while it runs."""
    home.chmod(0o755)
    ends = subprocess.PIPE
    own = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    own |= {"HOME": str(home), **environment}
    command = [sys.executable, "-c", REPORTING]
    with subprocess.Popen(command, stdin=ends, stdout=ends, text=True, env=own) as job:
        yield json.loads(job.stdout.readline())
        job.communicate("\n")
    assert job.returncode == 0


def test_a_ray_starts_with_a_long_tmpdir_and_trials_have_the_priority_of_the_job(tmp_path):
    long = tmp_path / ("x" * 100)
    long.mkdir()
    with reporting(tmp_path, TMPDIR=str(long)) as facts:
        assert facts["nice"] == 0


@pytest.mark.slow  # Ray asks for twenty seconds before it gives up
@pytest.mark.skipif(os.getuid() != 0, reason="only root can act as two accounts")
def test_another_account_can_neither_join_the_ray_nor_enter_its_folder():
    with (
        tempfile.TemporaryDirectory(dir="/tmp") as home,  # pytest's own are closed to others
        reporting(Path(home), TMPDIR="/tmp") as facts,
    ):
        command = [sys.executable, "-c", JOINING, facts["gcs"], facts["at"], home]
        environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "RAY_AUTH_MODE": "token"}
        joined = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False
        )
    assert joined.stdout.splitlines() == ["kept out", "refused"], joined.stderr


@pytest.fixture
def bystander(tmp_path, monkeypatch):
    """A process that names the folder of a Ray in the only place for them."""
    monkeypatch.setattr(ray_session.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(ray_session, "_short_parent", lambda: tmp_path, raising=False)
    name = f"{tmp_path}/automata-ray-abc/r"
    with subprocess.Popen([sys.executable, "-c", "input()", name], stdin=subprocess.PIPE) as job:
        yield job
        job.kill()


def test_a_lock_with_half_a_name_ends_no_job(tmp_path, bystander):
    (tmp_path / "automata-ray-").mkdir()
    (tmp_path / "automata-ray-/lock").touch()
    with ray_session._temporary_folder():
        assert bystander.poll() is None


@pytest.mark.skipif(os.getuid() != 0, reason="only root can act as two accounts")
def test_a_lock_of_another_account_ends_no_job(tmp_path, bystander):
    folder = tmp_path / "automata-ray-abc"
    folder.mkdir()
    (folder / "lock").touch()
    shutil.chown(folder, "nobody")
    with ray_session._temporary_folder():
        assert bystander.poll() is None


def test_processes_of_a_killed_job_end_before_the_next_ray_starts():
    with holder("wait") as (job, family):
        job.kill()
        job.wait()
        with ray_session._temporary_folder():
            assert psutil.wait_procs(family, 5)[1] == []


def test_a_ray_that_does_not_start_is_one_line(monkeypatch):
    def init(**_):
        raise RuntimeError("Timed out waiting for file port_1\nand more")

    # Not of Ray itself: other tests have one.
    broken = SimpleNamespace(init=init, shutdown=lambda: None)
    monkeypatch.setattr(ray_session, "ray", broken)
    monkeypatch.setattr(ray_session, "_processes", lambda folder: [])
    with pytest.raises(UserError) as refused, local_ray(1, 0):
        pass
    line = str(refused.value)
    assert line.startswith("Ray did not start in 0 s: Timed out waiting for file port_1; the mach")
    assert line.endswith(KEPT)
    assert "\n" not in line


def test_other_children_of_the_process_outlive_its_ray():
    code = (
        "import subprocess, sys\nfrom automata.tuning.ray_session import local_ray\n"
        "child = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE)\n"
        "for _ in range(2):\n    with local_ray(1, 0): pass\n"
        "print(child.poll())\nchild.communicate(b'')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert run.stdout.split() == ["None"]


@pytest.mark.parametrize("address", ["127.0.0.2:9", "127.0.0.2:99999"])
def test_an_address_that_nobody_answers_is_one_line(address, tmp_path):
    with (
        pytest.raises(UserError, match=f"^ray.address: {address}: .+$"),
        users_ray(address, tmp_path),
    ):
        pass
