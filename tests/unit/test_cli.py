"""Arguments of commands, and what strangers' files may write to a log."""

import json
import subprocess
import sys

import pytest

from automata.cli import main


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
