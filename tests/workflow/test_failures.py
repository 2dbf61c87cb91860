"""What a user sees who types `snakemake` and something fails: one line says it, the last."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import yaml

from automata.failures import KEPT, KILLED

ROOT = Path(__file__).parents[2]
OWN_MODEL = {
    "model": {"factory": "ending:build"},
    "search_space": {
        "learning_rate": {"uniform": [0.001, 0.01]},
        "batch_size": {"choice": [32]},
        "optimizer": {"choice": ["adam"]},
        "schedule": {"choice": ["none"]},
    },
}


@pytest.fixture
def call(tmp_path):
    """Give a function that calls Snakemake in a folder and returns what is on the screen."""

    def snakemake(*arguments: str, status: int = 1) -> list[str]:
        command = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "workflow/Snakefile")]
        ended = subprocess.run(
            [*command, "--cores", "1", *arguments],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        )
        assert ended.returncode == status
        assert "Traceback" not in ended.stdout
        return ended.stdout.splitlines()

    return snakemake


def test_model_that_ends_its_process_is_told(call, tmp_path):
    (tmp_path / "ending.py").write_text("import os\ndef build(*a, **k):\n    os._exit(3)\n")
    config = {"selectors": ["full"], "protocol": {"tabular": OWN_MODEL}}
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(config))
    files = [str(ROOT / "config/smoke.yaml"), "own.yaml"]
    lines = call("--until", "tune", "--configfile", *files)
    assert lines[-1].startswith(f"automata: error: {KILLED}; {KEPT} (log: logs/tune/dna/")


def test_last_line_says_what_to_read(finished, call, tmp_path):
    shutil.copytree(finished.folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / "results/smoke/index.html").unlink()
    lines = call("--configfile", str(ROOT / "config/smoke.yaml"), status=0)
    told = "The best hyper-parameters: results/smoke/best.yaml; how good they are: "
    assert lines[-1] == f"{told}results/smoke/index.html"


@pytest.mark.slow
def test_ctrl_c_twice_is_one_line_and_leaves_nothing(tmp_path):
    command = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "workflow/Snakefile")]
    command += ["--cores", "1", "--until", "tune", "--configfile", str(ROOT / "config/smoke.yaml")]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        # What runs in the background of a script ignores Ctrl-C, and passes that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        snakemake = psutil.Process(process.pid)
        family = wait_for_ray(snakemake)
        for _ in range(2):  # a terminal sends it to all
            for member in [snakemake, *family]:
                if member.is_running():
                    member.send_signal(signal.SIGINT)
            time.sleep(0.3)
        lines = process.stdout.read().splitlines()
    assert lines[-1].startswith("automata tune: error: interrupted; run the same command again: f")
    assert not any("Traceback" in line for line in lines)
    assert psutil.wait_procs(family, 20)[1] == []
    assert not list((tmp_path / ".snakemake/locks").glob("*"))


def name_of(process):
    try:
        return process.name()
    except psutil.NoSuchProcess:  # it has just ended
        return ""


def wait_for_ray(snakemake):
    """Return all processes below Snakemake once Ray runs there."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        family = snakemake.children(recursive=True)
        if "raylet" in map(name_of, family):
            return family
        time.sleep(0.1)
    raise AssertionError("no Ray was started")
