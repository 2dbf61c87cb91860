"""How trials share GPUs."""

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import ray

from automata.config.machine import Compute
from automata.errors import UserError
from automata.failures import KEPT
from automata.tuning.ray_session import gpu_share, local_ray


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


def test_a_local_ray_runs_no_autoscaler_and_leaves_no_process():
    def commands():
        children = psutil.Process().children(recursive=True)
        return {child.pid: " ".join(child.cmdline()) for child in children}

    before = commands()
    with local_ray(1, 0):
        started = [command for pid, command in commands().items() if pid not in before]
        assert any("raylet" in command for command in started)
        assert not any("monitor.py" in c and "log_monitor.py" not in c for c in started)
    left = psutil.wait_procs([psutil.Process(pid) for pid in commands() if pid not in before], 10)
    assert left[1] == []


HOLDING = """
import time
from automata.tuning.ray_session import local_ray
with local_ray(1, 0):
    print(flush=True)
    time.sleep(300)
"""


@pytest.mark.parametrize("lost", ["gcs_server", "raylet"])
def test_a_job_that_loses_its_ray_ends_at_once_and_leaves_nothing(lost):
    command, ends = [sys.executable, "-c", HOLDING], subprocess.PIPE
    with subprocess.Popen(command, stdout=ends, stderr=ends, text=True) as job:
        job.stdout.readline()
        family = psutil.Process(job.pid).children(recursive=True)
        (folder,) = {word for p in family for word in p.cmdline() if word.startswith("--temp-dir=")}
        next(process for process in family if process.name() == lost).kill()
        began = time.monotonic()
        said = job.stderr.read().splitlines()
        assert job.wait() == 1
    assert time.monotonic() - began < 10
    assert said[-1] == f"automata: error: Ray's process {lost} was killed or crashed; {KEPT}"
    assert psutil.wait_procs(family, 10)[1] == []
    assert not Path(folder.removeprefix("--temp-dir=")).exists()


def test_a_ray_that_does_not_start_is_one_line(monkeypatch):
    def init(**_):
        raise RuntimeError("Timed out waiting for file port_1\nand more")

    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(UserError) as refused, local_ray(1, 0):
        pass
    line = str(refused.value)
    assert line.startswith("Ray did not start in 0 s: Timed out waiting for file port_1; the mach")
    assert line.endswith(KEPT)
    assert "\n" not in line
