"""What would be run, without running it."""

from pathlib import Path

import pytest
import yaml

CONFIG = Path(__file__).parents[2] / "config"


@pytest.mark.parametrize(("name", "runs"), [("config.yaml", 22), ("tabular.yaml", 3 * 4 * 21 * 5)])
def test_shipped_configuration_plans_every_run_of_its_grid(workflow, name, runs):
    workflow.config = yaml.safe_load((CONFIG / name).read_text())
    assert workflow.plan()["tune"] == runs


def test_full_runs_once_whatever_the_fractions(workflow):
    workflow.config = {"fractions": [0.1, 0.2, 0.3], "selectors": ["full"]}
    assert workflow.plan()["tune"] == 1


def test_fraction_one_is_run_for_other_selectors_where_it_is_listed(workflow):
    workflow.config = {"fractions": [1.0], "selectors": ["full", "random"]}
    assert workflow.plan()["tune"] == 2


def test_targets_stand_for_their_part_of_the_results(workflow):
    assert workflow.plan("tables")["plot_tradeoff"] == 0
