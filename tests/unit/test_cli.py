import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from automata.cli import COMMANDS, main
from automata.cli.commands import publish

TYPED = ["new", "predict", "runs", "status", "unpack"]
"""The commands that texts for users name."""

RULES = Path(__file__).parents[2] / "rules"


def test_commands_are_those_of_users_and_then_those_of_rules(capsys):
    called = "".join(path.read_text() for path in RULES.iterdir())
    with pytest.raises(SystemExit):
        main(["--help"])
    names = re.findall(r"^    (\S+)", capsys.readouterr().out, re.MULTILINE)
    assert names == list(COMMANDS)
    assert names[: len(TYPED)] == TYPED
    assert {*names[len(TYPED) :], "unpack"} == set(re.findall(r"python -m automata (\S+)", called))


def test_flag_without_a_default_is_required(capsys):
    with pytest.raises(SystemExit) as end:
        main(["collect", "record.json"])
    assert end.value.code == 2
    last = "automata collect: error: the following arguments are required: --output"
    assert capsys.readouterr().err.splitlines()[-1] == last


def test_unprintable_names_in_a_users_file_are_escaped_in_the_log(tmp_path):
    names = ["\x1b]0;title\x07", "\u202egap\x9b2J"]
    rows = [f"{row},{row % 7 or 'x'},{row % 2}" for row in range(1, 61)]
    (tmp_path / "t.csv").write_text("\n".join([",".join([*names, "kind"]), *rows]))
    own = {"kind": "tabular", "path": "t.csv", "target": "kind"}
    command = [sys.executable, "-m", "automata", "prepare", "mine", "--output", "t.safetensors"]
    command += ["--preparation", json.dumps({"own": own})]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1
    assert "among numbers" in ended.stderr.splitlines()[-1]
    assert all(map(str.isprintable, ended.stderr.split("\n")))
    assert names[1].encode("unicode_escape").decode() in ended.stderr


def test_published_copies_keep_their_places(tmp_path):
    source, target = tmp_path / "results/dna", tmp_path / "results/reference/dna"
    table, page = source / "tables/runs.csv", source / "index.html"
    table.parent.mkdir(parents=True)
    table.write_text("a table")
    page.write_text("a page")
    publish([table, page], source=source, target=target)
    assert (target / "tables/runs.csv").read_text() == "a table"
    assert (target / "index.html").read_text() == "a page"
