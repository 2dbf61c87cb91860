"""What a user sees who types `snakemake` and something fails: one line says it, the last.

Each refusal is tested where it is raised. Four go through Snakemake here, one of each way: a dry
run, a target of many commands, a job that dies, and Ctrl-C.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import psutil
import pytest
import yaml

from automata.errors import KEPT, KILLED

from .conftest import RECORD, ROOT, snakemake

SMOKE = ["--configfile", ROOT / "config/smoke.yaml"]
OWN_MODEL = {
    "model": {"factory": "ending:build"},
    "search_space": {"learning_rate": {"uniform": [0.001, 0.01]}, "batch_size": {"choice": [32]}},
}


def last_line(folder, *arguments, status=1):
    return snakemake(folder, *SMOKE, *arguments, status=status).splitlines()[-1]


def test_wrong_key_is_one_line_that_names_its_file(tmp_path):
    (tmp_path / "broken.yaml").write_text("fractions: [2]\n")
    (tmp_path / "last.yaml").write_text("seeds: [0]\n")
    line = last_line(tmp_path, "broken.yaml", "last.yaml", "--dry-run")
    assert line == "broken.yaml: fractions.0: 2 is not valid; valid: number > 0 and <= 1"


def test_paper_figures_without_records_are_one_line(tmp_path):
    line = last_line(tmp_path, "--directory", "there", "--", "paper_figures")
    assert "seed-0/record.json: no file, and no folder with" in line
    assert (tmp_path / line.partition("(log: ")[2].rstrip(")")).is_file()


@pytest.mark.slow
def test_model_that_ends_its_process_is_one_line(tmp_path):
    (tmp_path / "ending.py").write_text("import os\ndef build(*a, **k):\n    os._exit(3)\n")
    config = {"selectors": ["full"], "protocol": {"tabular": OWN_MODEL}}
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(config))
    line = last_line(tmp_path, "own.yaml", "--until", "tune")
    assert line.startswith(f"automata: error: {KILLED}; {KEPT} (log: logs/tune/dna/")


@pytest.mark.slow
def test_last_line_says_what_to_read(copy):
    for name, only in [("best.yaml", ["--until", "tabulate"]), ("index.html", [])]:
        (copy.folder / "results/smoke" / name).unlink()
        line = last_line(copy.folder, *only, status=0)
        assert ("The best" in line) == (not only)
    best = "The best hyper-parameters: results/smoke/best.yaml; how good they are: "
    assert line == f"{best}results/smoke/index.html"


@pytest.mark.slow
def test_workflow_runs_without_streams_and_without_the_name_of_its_account(tmp_path):
    nameless = "import pwd; pwd.getpwuid = {}.__getitem__; import snakemake.cli as c; c.main()"
    command = [sys.executable, "-c", nameless, "--snakefile", ROOT / "workflow/Snakefile"]
    record = RECORD.format("full-1")
    command += ["--cores", "2", *SMOKE, "--", record]
    script = ["bash", "-c", 'exec "$@" <&- >&- 2>&-', "bash", *map(str, command)]
    given = {key: os.environ[key] for key in ("PATH", "HOME")}
    subprocess.run(script, cwd=tmp_path, env=given, check=True)
    assert (tmp_path / record).is_file()


@pytest.mark.slow
@pytest.mark.parametrize("sent", ["SIGINT to all", "SIGINT", "SIGTERM"])
def test_interrupt_is_one_line_and_leaves_nothing(tmp_path, sent):
    command = [sys.executable, "-m", "snakemake", "-s", ROOT / "workflow/Snakefile"]
    with subprocess.Popen(
        [*command, "--cores", "1", "--until", "tune", *SMOKE],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # Processes in the background of a script ignore Ctrl-C, and their children do, too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        parent = psutil.Process(process.pid)
        family = wait_for_ray(parent)
        for _ in range(2):
            for member in [parent, *family] if "all" in sent else [parent]:  # all: a terminal's
                if member.is_running():
                    member.send_signal(signal.Signals[sent.split()[0]])
            time.sleep(0.3)
        lines = process.stdout.read().splitlines()
    assert lines[-1] == f"automata: error: interrupted; {KEPT}"
    assert not any("Traceback" in line or "--job" in line for line in lines)
    assert psutil.wait_procs(family, 60)[1] == []
    assert not list((tmp_path / ".snakemake/locks").glob("*"))


def wait_for_ray(parent):
    """Return all processes below Snakemake once Ray runs there."""
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        family = parent.children(recursive=True)
        with suppress(psutil.NoSuchProcess):  # one has just ended
            if "raylet" in [member.name() for member in family]:
                return family
        time.sleep(0.1)
    raise AssertionError("no Ray was started")
