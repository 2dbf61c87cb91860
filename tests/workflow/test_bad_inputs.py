"""The drill of bad inputs: each ends with one clear line, and nothing of the user's is touched."""

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
from automata.config.inputs import check_data_files
from automata.config.job import Run
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
"""Characters of a line that a reader takes in."""

pytestmark = pytest.mark.timeout(100)


def tree(folder):
    """Return what lies in a folder, without Snakemake's own and the lock of unfinished work."""
    return {
        path.relative_to(folder).as_posix(): content(path)
        for path in sorted(folder.rglob("*"))
        if not {".snakemake", "work"} & {*path.relative_to(folder).parts}
    }


def content(path):
    """Return the bytes of a file, of all else what it is."""
    if path.is_symlink():
        return path.readlink()
    return path.read_bytes() if path.is_file() else stat.S_IFMT(path.stat().st_mode)


def check(case, line):
    """Say that `line` is what ends a case."""
    pattern = ".*".join(map(re.escape, case.said.split("...")))
    assert isinstance(line, str), "it ended without a line"
    assert "\n" not in line, line
    assert len(line) <= LONGEST, line
    assert "site-packages" not in line, line
    assert re.match(pattern, line), line


def place(case, folder, stock):
    """Put the files of a case where they belong, and return what then lies in the folder."""
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
    """Good files, of which bad ones are made."""
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


def refusal_of_plan(case, workflow):
    workflow.plan()


def experiment(folder):
    (found,) = read_experiments([CONFIG / "config.yaml", SMOKE, folder / "own.yaml"])
    return found


def refusal_of_preparation(case, workflow):
    config = experiment(workflow.folder)
    check_data_files(config, "mine")
    preparation = json.dumps(config.preparation("mine").stated())
    main(["prepare", "mine", "--preparation", preparation, "--output", "new.safetensors"])


def refusal_of_tuning(case, workflow):
    run = {"dataset": "mine", "search": "random", "scheduler": "hyperband", "selector": "full"}
    config = experiment(workflow.folder)
    job = job_of(config, Run(**run, fraction=1.0, seed=0), {})
    paths = ["--work=work", "--output=record.json"]
    main(["tune", "mine.safetensors", "--job", job.model_dump_json(), *paths])


def refusal_of_command(case, workflow):
    main(list(case.command))


ENDS = {
    "plan": refusal_of_plan,
    "prepare": refusal_of_preparation,
    "tune": refusal_of_tuning,
    "command": refusal_of_command,
}


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
        ENDS[case.ends](case, workflow)
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
"""What a call makes in a folder, also one that fails."""


def typed(case):
    """Return the command that meets a case, as a user types it."""
    if case.ends == "command":
        return ["-m", "automata", *case.command]
    snakemake = ["-m", "snakemake", "-s", str(ROOT / "workflow/Snakefile"), "--cores", "1"]
    rule = {"prepare": "prepare", "tune": "tune_and_keep"}.get(case.ends)
    until = ["--until", rule] if rule else ["-n"]
    return [*snakemake, *until, "--configfile", str(SMOKE), "own.yaml"]


def called(case, folder):
    """Type the command and return what is on the screen."""
    ended = subprocess.run(
        [sys.executable, *typed(case)],
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
    last = called(case, tmp_path)[-1]
    check(case, re.sub(r" \(log: \S+\)$", "", last))
    after = tree(tmp_path)
    assert {path: after[path] for path in before} == before
    assert {path.split("/")[0] for path in after.keys() - before} <= MADE
