"""The Ray of one job, and how its trials share GPUs."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import psutil
import pytest

from automata.config.sections import Compute
from automata.errors import KEPT, UserError
from automata.tuning import ray_session
from automata.tuning.ray_session import gpu_share, local_ray, temporary_folder, users_ray


@pytest.mark.parametrize(
    ("trials", "asked", "gpus", "share"),
    [
        (4, 0.5, 0, 0),
        (4, None, 1, 0.25),
        (2, None, 8, 1),
        (3, 0.25, 1, 0.25),
        (2, 1.0, 2, 1),
        (5, None, 2, 1 / 3),
    ],
)
def test_share_of_a_trial(trials, asked, gpus, share):
    assert gpu_share(Compute(concurrent_trials=trials, gpu_per_trial=asked), gpus) == share


@pytest.mark.parametrize(
    ("trials", "asked", "gpus", "line"),
    [
        (4, 0.5, 1, r"gpu_per_trial: 0.5 for 4 .* 1 GPU.s. have; .* at most 0.25"),
        (3, 0.6, 2, r"at most 0\.5"),  # three times 0.6 is less than two, but one fits on each
    ],
)
def test_shares_that_do_not_fit_are_one_line(trials, asked, gpus, line):
    with pytest.raises(UserError, match=line):
        gpu_share(Compute(concurrent_trials=trials, gpu_per_trial=asked), gpus)


RAY = "import ray, sys, os\nfrom automata.tuning.ray_session import local_ray\n"
HOLDING = f"""{RAY}
import json, time
with local_ray(1, 0):
    nice = ray.get(ray.remote(lambda: os.nice(0)).remote()) - os.nice(0)
    folder = ray._private.worker._global_node.get_session_dir_path()
    facts = {{"nice": nice, "gcs": ray.get_runtime_context().gcs_address, "at": folder}}
    print(json.dumps(facts | {{"environment": dict(os.environ)}}), flush=True)
    sys.stdin.readline()
print(flush=True)
sys.stdin.readline()
"""


@contextmanager
def holder(**environment):
    """Yield a process that holds a Ray of its own, and facts about it."""
    ends = subprocess.PIPE
    own = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    options = {"stdin": ends, "stdout": ends, "stderr": ends, "text": True}
    with subprocess.Popen([sys.executable, "-c", HOLDING], env=own | environment, **options) as job:
        facts = json.loads(job.stdout.readline())
        facts["family"] = psutil.Process(job.pid).children(recursive=True)
        yield job, facts
        if job.poll() is None:
            job.communicate("\n\n")


STARTING = f"""{RAY}
import subprocess
child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
for _ in range(2):
    with local_ray(1, 0):
        print(ray.get(ray.remote(lambda: sys.executable).remote()))
print(child.poll())
child.communicate(b"")
"""


@pytest.mark.slow
def test_a_process_in_a_path_with_a_blank_has_one_ray_after_the_other_and_keeps_its_children(
    tmp_path,
):
    venv.create(tmp_path / "my env")
    python = tmp_path / "my env/bin/python"
    paths = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    options = {"env": os.environ | paths, "capture_output": True, "text": True, "timeout": 120}
    shown = subprocess.run([python, "-c", STARTING], **options).stdout
    assert shown.splitlines()[-3:] == [str(python), str(python), "None"]


@pytest.mark.slow
def test_a_ray_has_no_dashboard_the_priority_of_its_job_and_leaves_nothing(tmp_path):
    long = tmp_path / ("x" * 100)  # too long for Ray's sockets
    long.mkdir()
    with holder(TMPDIR=str(long)) as (job, facts):
        started = {Path(word).name for process in facts["family"] for word in process.cmdline()}
        assert facts["nice"] == 0
        job.stdin.write("\n")
        job.stdin.flush()
        job.stdout.readline()
        assert psutil.wait_procs(facts["family"], 60)[1] == []
        assert not Path(facts["at"]).exists()
        assert job.poll() is None
        job.communicate("\n")
    assert {"raylet", "log_monitor.py"} <= started
    assert not {"monitor.py", "dashboard.py"} & started


@pytest.mark.slow
def test_the_token_of_a_ray_is_in_no_file(tmp_path):
    with holder(HOME=str(tmp_path)) as (_, facts):
        assert "RAY_AUTH_TOKEN" in facts["environment"]
    assert [*tmp_path.rglob("auth_token")] == []


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["gcs_server", "raylet"])
def test_a_job_that_loses_its_ray_ends_at_once_and_leaves_nothing(lost):
    with holder() as (job, facts):
        next(process for process in facts["family"] if process.name() == lost).kill()
        lines = job.stderr.read().splitlines()
        assert job.wait() == 1
    assert lines[-1] == f"automata: error: Ray's process {lost} was killed or crashed; {KEPT}"
    assert psutil.wait_procs(facts["family"], 60)[1] == []
    assert not Path(facts["at"]).exists()


@pytest.mark.slow
def test_processes_of_a_killed_job_end_before_the_next_ray_starts(monkeypatch):
    monkeypatch.setattr(ray_session, "GRACE_SECONDS", 60)  # which a busy machine may need
    with holder() as (job, facts):
        servers = [it for it in facts["family"] if it.name() in ("gcs_server", "raylet")]
        job.kill()
        job.wait()
        with temporary_folder():
            assert not any(server.is_running() for server in servers)
    assert psutil.wait_procs(facts["family"], 60)[1] == []


def test_processes_that_a_body_leaves_end_with_their_folder():
    with temporary_folder() as folder:
        command = [sys.executable, "-c", "input()", f"{folder}/r"]
        straggler = subprocess.Popen(command, stdin=subprocess.PIPE)
    assert straggler.poll() is not None
    assert not folder.exists()


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


@pytest.mark.slow  # Ray asks for twenty seconds before it gives up
@pytest.mark.skipif(os.getuid() != 0, reason="only root can act as two accounts")
def test_another_account_can_neither_join_the_ray_nor_enter_its_folder():
    with tempfile.TemporaryDirectory(dir="/tmp") as home:  # pytest's own are closed to others
        Path(home).chmod(0o755)
        with holder(TMPDIR="/tmp", HOME=home) as (_, facts):
            command = [sys.executable, "-c", JOINING, facts["gcs"], facts["at"], home]
            own = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "RAY_AUTH_MODE": "token"}
            joined = subprocess.run(command, env=own, capture_output=True, text=True, check=False)
    assert joined.stdout.splitlines() == ["kept out", "refused"], joined.stderr


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("automata-ray-", "root"),
        pytest.param(
            "automata-ray-abc",
            "nobody",
            marks=pytest.mark.skipif(os.getuid() != 0, reason="only root can act as two accounts"),
        ),
    ],
    ids=["half a name", "another account"],
)
def test_a_lock_that_no_job_left_ends_no_process(tmp_path, monkeypatch, name, owner):
    monkeypatch.setattr(ray_session, "_short_parent", lambda: tmp_path)
    folder = tmp_path / name
    folder.mkdir()
    (folder / "lock").touch()
    if owner == "nobody":
        shutil.chown(folder, owner)
    inside = f"{tmp_path}/automata-ray-abc/r"
    command = [sys.executable, "-c", "input()", inside]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as bystander:
        with temporary_folder():
            assert bystander.poll() is None
        bystander.kill()


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({}, f"^Ray did not start in 0 s: Timed out waiting for file port_1; the mach.*; {KEPT}$"),
        ({"psutil.net_if_stats": dict}, "^Ray's processes .* interface.*ip link set lo up`$"),
        ({"resource.getrlimit": lambda limit: (102400, -1)}, "^ulimit -f: .* 100 KiB, .*101 MiB"),
    ],
)
def test_a_ray_that_does_not_start_is_one_line(change, line, monkeypatch):
    def init(**_):
        raise RuntimeError("Timed out waiting for file port_1\nand more")

    # Not of Ray itself: other tests have one.
    broken = SimpleNamespace(init=init, shutdown=lambda: None, is_initialized=lambda: False)
    monkeypatch.setattr(ray_session, "ray", broken)
    monkeypatch.setattr(ray_session, "processes_of", lambda folder: [])
    for name, value in change.items():
        monkeypatch.setattr(name, value)
    with pytest.raises(UserError, match=line), local_ray(1, 0):
        pass


@pytest.mark.parametrize("address", ["127.0.0.2:9", "127.0.0.2:99999"])
def test_an_address_that_nobody_answers_is_one_line(address, tmp_path, monkeypatch):
    ended = Mock()
    monkeypatch.setattr(ray_session, "ray", SimpleNamespace(shutdown=ended))  # others have one
    message = f"^ray.address: {address}: .+$"
    with pytest.raises(UserError, match=message), users_ray(address, tmp_path):
        pass
    ended.assert_called_once()
