"""Configuration files that Snakemake reads before us; `test_bad_inputs` has what can be wrong."""

from pathlib import Path

import pytest

from automata.config.files import read_experiments
from automata.config.reading import check_arguments
from automata.errors import UserError

CONFIG = Path(__file__).parents[3] / "config"


@pytest.mark.parametrize("before", [["--configfile", "good.yaml"], ["-n", "--configfile"]])
def test_files_of_the_command_line_are_looked_at(tmp_path, monkeypatch, before):
    monkeypatch.chdir(tmp_path)
    Path("good.yaml").write_text("seeds: [0]\n")
    Path("bad.yaml").write_text("seeds: [0\n")
    check_arguments(["--cores", "1", "--configfile", "good.yaml", "--config", "seeds=[3]"])
    with pytest.raises(SystemExit, match=r"bad\.yaml: line 2, column 1: not YAML"):
        check_arguments([*before, "bad.yaml", "--cores", "1"])


def test_list_on_the_command_line_is_sent_to_a_file():
    """Snakemake makes ["3"] of seeds=[3]."""
    with pytest.raises(UserError, match=r"--config: seeds\.0: .*; lists and .* file: --configf"):
        read_experiments([CONFIG / "config.yaml"], {"seeds": ["3"]})


def test_aliases_that_repeat_little_are_read(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("seeds: &some [3, 4]\nuntuned_seeds: *some\n")
    (experiment,) = read_experiments([CONFIG / "config.yaml", file])
    assert experiment.untuned_seeds == [3, 4]
