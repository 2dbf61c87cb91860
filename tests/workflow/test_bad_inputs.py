"""The drill of bad inputs: each ends with one clear line, and the user's files stay the same."""

import json
import os
import re
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import yaml

from automata.cli import main
from automata.config.data import Preparation
from automata.config.files import read_experiments
from automata.config.job import Run, contents_of
from automata.datasets.prepare import prepare
from automata.datasets.prepared import read_dataset, write_dataset
from automata.errors import UserError
from automata.runs import job_of, pack, unpack
from hostile import configurations, data, runs
from hostile.case import Stock

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "config"
SMOKE = CONFIG / "smoke.yaml"
CASES = [*configurations.CASES, *data.CASES, *runs.CASES]
LONGEST = 450
"""Maximum number of characters of a line."""

pytestmark = pytest.mark.timeout(100)


def tree(folder):
    """Return the content of each path in a folder, except in `.snakemake` and `work`."""
    return {
        path.relative_to(folder).as_posix(): content(path)
        for path in sorted(folder.rglob("*"))
        if not {".snakemake", "work"} & {*path.relative_to(folder).parts}
    }


def content(path):
    """Return the bytes of a file, the target of a link, or the type of anything else."""
    if path.is_symlink():
        return path.readlink()
    return path.read_bytes() if path.is_file() else stat.S_IFMT(path.stat().st_mode)


def check(case, line):
    """Assert that `line` is the short line that a case expects."""
    pattern = ".*".join(map(re.escape, case.said.split("...")))
    assert isinstance(line, str), "it ended without a line"
    assert "\n" not in line, line
    assert len(line) <= LONGEST, line
    assert "site-packages" not in line, line
    assert re.match(pattern, line), line


def place(case, folder, stock):
    """Write the files of a case, and return the content of the folder."""
    usual = {
        "own.yaml": yaml.safe_dump(dict(case.config)),
        "mine.csv": stock.table,
        "mine.safetensors": stock.prepared,
    }
    for name, made in {**usual, **case.files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if callable(made):
            made(path, stock)
        else:
            path.write_bytes(made if isinstance(made, bytes) else made.encode())
    return tree(folder)


@pytest.fixture(scope="module")
def stock(tmp_path_factory):
    """Good files, from which cases make bad ones."""
    here = tmp_path_factory.mktemp("stock")
    (here / "mine.csv").write_text("size,y\n" + "".join(f"{n},{n % 2}\n" for n in range(40)))
    preparation = Preparation.model_validate({"own": configurations.TABLE})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        write_dataset(prepare("mine", preparation, here), here / "mine.safetensors")
    unpack([ROOT / "results/reference/default/records.tar.xz"], here / "runs", as_named=True)
    record = min(here.glob("runs/*/*/full-1/*/record.json"))
    pack([record], here / "records.tar.xz")
    return Stock(
        table=(here / "mine.csv").read_bytes(),
        prepared=(here / "mine.safetensors").read_bytes(),
        record=record.read_bytes(),
        archive=(here / "records.tar.xz").read_bytes(),
    )


def arguments(case, folder):
    """Return the arguments of `automata` for a case that does not end in the plan."""
    if case.ends == "command":
        return list(case.command)
    (experiment,) = read_experiments([CONFIG / "config.yaml", SMOKE, folder / "own.yaml"])
    if case.ends == "prepare":
        contents_of(experiment, "mine", folder / "work/contents.json", sys.path)
        preparation = json.dumps(experiment.preparation("mine").stated())
        return ["prepare", "mine", "--preparation", preparation, "--output", "new.safetensors"]
    run = {"dataset": "mine", "search": "random", "scheduler": "hyperband", "selector": "full"}
    job = job_of(experiment, Run(**run, fraction=1.0, seed=0), {}).model_dump_json()
    return ["tune", "mine.safetensors", "--job", job, "--work=work", "--output=record.json"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.ends}: {case.said[:60]}")
def test_bad_input_ends_with_one_line(case, stock, workflow, monkeypatch, capfd):
    folder = workflow.folder
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "nets", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # of nets.py
    workflow.config = dict(case.config)
    before = place(case, folder, stock)
    with pytest.raises(SystemExit) as end:
        workflow.plan() if case.ends == "plan" else main(arguments(case, folder))
    shown = "".join(capfd.readouterr())
    sys.modules.pop("nets", None)
    assert "Traceback" not in shown, shown
    by_argparse = case.command and end.value.code == 2
    check(case, shown.splitlines()[-1] if by_argparse else end.value.code)
    assert tree(folder) == before


@pytest.mark.parametrize("bit", range(8))
def test_flipped_bits_in_the_header_of_a_prepared_file_are_refused_or_do_not_count(
    bit, stock, tmp_path
):
    file = tmp_path / "mine.safetensors"
    for byte in range(0, len(stock.prepared), 31):
        flipped = bytearray(stock.prepared)
        flipped[byte] ^= 1 << bit
        file.write_bytes(flipped)
        with suppress(UserError):
            read_dataset(file)


REAL = [case for case in CASES if case.real]
MADE = {"results", "logs", "benchmarks"}
"""Folders that a call makes, even if it fails."""


def screen(case, folder):
    """Type the command that meets a case, and return the lines on the screen."""
    snakemake = ["snakemake", "-s", str(ROOT / "workflow/Snakefile"), "--cores", "1"]
    rule = {"prepare": "prepare", "tune": "tune_and_keep"}.get(case.ends)
    until = ["--until", rule] if rule else ["-n"]
    planned = [*snakemake, *until, "--configfile", str(SMOKE), "own.yaml"]
    ended = subprocess.run(
        [sys.executable, "-m", *(["automata", *case.command] if case.command else planned)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert ended.returncode != 0
    assert "Traceback" not in ended.stdout, ended.stdout
    return [line for line in ended.stdout.splitlines() if line]


@pytest.mark.e2e
@pytest.mark.parametrize("case", REAL, ids=lambda case: f"{case.ends}: {case.said[:60]}")
def test_bad_input_ends_the_real_command_with_one_line(case, stock, tmp_path):
    before = place(case, tmp_path, stock)
    last = screen(case, tmp_path)[-1]
    check(case, re.sub(r" \(log: \S+\)$", "", last))
    after = tree(tmp_path)
    assert {path: after[path] for path in before} == before
    assert {path.split("/")[0] for path in after.keys() - before} <= MADE
