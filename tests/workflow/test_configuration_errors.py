"""A configuration that is wrong ends the call with one line, before any job."""

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SMOKE = ROOT / "config/smoke.yaml"


def line(workflow, config):
    """Return what a dry run with `config` ends with."""
    workflow.config = config
    with pytest.raises(SystemExit) as end:
        workflow.plan()
    return end.value.code


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"datsets": ["dna"]}, "own.yaml: datsets: unknown key; valid: datasets, searches"),
        (
            {"protocol": {"tabular": {"epoch": 3}}},
            "own.yaml: protocol.tabular.epoch: unknown key; valid: model, configurations, epochs",
        ),
        (
            {"datasets": ["mnist"]},
            'own.yaml: datasets.0: "mnist" is not valid; valid: dna, satimage, letter',
        ),
        (
            {"selectors": ["full", "grad"]},
            'own.yaml: selectors.1: "grad" is not valid; valid: full, random',
        ),
        ({"schedulers": ["sha"]}, 'own.yaml: schedulers.0: "sha" is not valid; valid: hyperband'),
        (
            {"fractions": [0.1, 1.5]},
            "own.yaml: fractions.1: 1.5 is not valid; valid: number > 0 and <= 1",
        ),
        ({"fractions": [0]}, "own.yaml: fractions.0: 0 is not valid; valid: number > 0 and <= 1"),
        (
            {"protocol": {"tabular": {"epochs": 0}}},
            "own.yaml: protocol.tabular.epochs: 0 is not valid; valid: integer > 0",
        ),
        (
            {"seeds": []},
            "own.yaml: seeds: [] is not valid; valid: a list with at least one value, none twice",
        ),
        (
            {"seeds": [1, 1]},
            "own.yaml: seeds: [1, 1] is not valid; valid: a list with at least one value, none",
        ),
        (
            {"protocol": {"tabular": {"epochs": "many"}}},
            'own.yaml: protocol.tabular.epochs: "many" is not valid; valid: integer > 0',
        ),
        (
            {"protocol": {"tabular": {"search_space": {"learning_rate": {"uniform": [1, 0.1]}}}}},
            "own.yaml: protocol.tabular.search_space.learning_rate.uniform: 1 is not below 0.1",
        ),
        (
            {"protocol": {"tabular": {"search_space": {"learning_rate": {"uniform": [0.1]}}}}},
            "learning_rate.uniform: [0.1] is not valid; valid: a list of 2 values",
        ),
        (
            {"datasets": "dna"},
            'own.yaml: datasets: "dna" is not valid; valid: a list with at least one value',
        ),
    ],
)
def test_error_names_file_key_value_and_valid_values(workflow, config, expected):
    assert expected in line(workflow, config)


@pytest.mark.parametrize("config", [{"datsets": []}, {"seeds": [1, 1]}, {"compute": None}])
def test_error_is_one_line(workflow, config):
    assert "\n" not in line(workflow, config)


def test_error_in_the_shipped_file_names_it(workflow, tmp_path, monkeypatch):
    copy = tmp_path / "project"
    for part in ("workflow", "rules", "config"):
        shutil.copytree(ROOT / part, copy / part)
    shipped = copy / "config/config.yaml"
    shipped.write_text(shipped.read_text().replace("epochs: 40", "epochs: 0"))
    workflow.snakefile, workflow.configfiles = copy / "workflow/Snakefile", []
    expected = "config/config.yaml: protocol.tabular.epochs: 0 is not valid"
    assert line(workflow, {}).endswith(f"project/{expected}; valid: integer > 0")


def test_error_names_the_file_that_sets_the_key(workflow, tmp_path):
    broken = tmp_path / "broken.yaml"
    broken.write_text("fractions: [2]\n")
    workflow.configfiles = [SMOKE, broken]
    assert line(workflow, {"seeds": [0]}).split(":")[0].endswith("broken.yaml")
