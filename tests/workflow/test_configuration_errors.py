"""The file that a wrong configuration is blamed on; `test_bad_inputs` has what can be wrong."""

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


def test_error_in_the_shipped_file_names_it(workflow, tmp_path, monkeypatch):
    copy = tmp_path / "project"
    for part in ("workflow", "rules", "config", "src"):
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
