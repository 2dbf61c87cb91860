import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from automata.cli import COMMANDS, main
from automata.datasets.catalog import DATASETS

TYPED = ["new", "predict", "runs", "status", "unpack"]
"""The commands that texts for users name."""

RULES = Path(__file__).parents[2] / "rules"


def shown(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main([*arguments, "--help"])
    assert end.value.code == 0
    return capsys.readouterr().out


def listed(part):
    """Return the entries of a part of a help by name, each in one line."""
    entries = re.findall(r"^  (-h, )?(\S+)(.*\n(?:   .*\n)*)", part + "\n", re.MULTILINE)
    return {name: " ".join(rest.split()) for _, name, rest in entries}


def test_commands_are_those_of_users_and_then_those_of_rules(capsys):
    called = "".join(path.read_text() for path in RULES.iterdir())
    names = re.findall(r"^    (\S+)", shown(capsys), re.MULTILINE)
    assert names == list(COMMANDS)
    assert names[: len(TYPED)] == TYPED
    assert {*names[len(TYPED) :], "unpack"} == set(re.findall(r"python -m automata (\S+)", called))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_told_in_one_sentence(capsys, name):
    sentence = " ".join(COMMANDS[name].__doc__.split())
    assert re.fullmatch(r"[A-Z]([^.]|\.(?! ))+\.", sentence)
    texts = [" ".join(shown(capsys, *of).split()) for of in ([], [name])]
    assert [f" {sentence}" in text for text in texts] == [True, True]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_argument_is_told_in_a_sentence(capsys, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "500")
    arguments = listed(shown(capsys, name))
    assert arguments.pop("--help")
    sentence = re.compile(r"([A-Z_]+ (\[[A-Z_]+ ...\] )?|\[[A-Z_]+ ...\] )?[A-Z].+ .+\.")
    assert [name for name, told in arguments.items() if not sentence.fullmatch(told)] == []


def test_flag_without_a_default_must_be_given(capsys):
    with pytest.raises(SystemExit) as end:
        main(["collect", "record.json"])
    assert end.value.code == 2
    last = "automata collect: error: the following arguments are required: --output"
    assert capsys.readouterr().err.splitlines()[-1] == last


def test_users_error_is_one_line_without_a_traceback(capsys, tmp_path):
    with pytest.raises(SystemExit) as end:
        main(["prepare", "mnist", "--output", str(tmp_path / "x.safetensors")])
    assert end.value.code == (
        f"automata prepare: error: dataset 'mnist' is not one of {', '.join(DATASETS)}"
    )


def test_nothing_is_written_on_an_error(tmp_path):
    with pytest.raises(SystemExit):
        main(["prepare", "mnist", "--output", str(tmp_path / "x.safetensors")])
    assert list(tmp_path.iterdir()) == []


def test_names_in_a_users_file_reach_neither_log_nor_terminal_as_they_are(tmp_path):
    """A cell of the second column is refused, by its name."""
    names = ["\x1b]0;title\x07", "\u202egap\x9b2J"]
    rows = [f"{row},{row % 7 or 'x'},{row % 2}" for row in range(1, 61)]
    (tmp_path / "t.csv").write_text("\n".join([",".join([*names, "kind"]), *rows]))
    own = {"kind": "tabular", "path": "t.csv", "target": "kind"}
    command = [sys.executable, "-m", "automata", "prepare", "mine", "--output", "t.safetensors"]
    command += ["--preparation", json.dumps({"own": own})]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert said.returncode == 1
    assert "among numbers" in said.stderr.splitlines()[-1]
    assert all(map(str.isprintable, said.stderr.split("\n")))
    for name in names[1:]:
        assert name.encode("unicode_escape").decode() in said.stderr
