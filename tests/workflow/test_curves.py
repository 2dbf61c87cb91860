"""Learning curves and the searches simulated on them, by rules."""

import shutil

import pandas as pd
import pytest

from .conftest import ROOT

TARGET = "learning_curves"
OWN = ROOT / "docs/examples/own_methods.py"


@pytest.mark.slow
def test_curves_are_recorded_once_and_searches_simulated_on_them(workflow):
    shutil.copy2(OWN, workflow.folder)
    curves = {"pool": 4, "seeds": [0, 1], "part": 2}
    workflow.config = {
        "own_selectors": {"highest-loss": "own_methods:HighestLoss"},
        "selectors": ["full", "untuned", "rs2", "highest-loss"],
        "fractions": [0.1],
        "schedulers": ["hyperband", "asha"],
        "learning_curves": curves,
    }
    jobs = workflow.run(TARGET)
    assert jobs["record_curves"] == 3 * 2 * 2  # selectors, seeds, parts
    assert "tune" not in jobs
    assert not workflow.plan(TARGET)

    table = workflow.folder / "results/smoke/tables/simulated.csv"
    found = pd.read_csv(table)
    assert set(found["scheduler"]) == {"hyperband", "asha"}
    full = found[found["method"] == "FULL"]
    assert (full["regret"] == 0).all()
    assert (full["speedup_samples"] == 1).all()
    assert {"rs2 10 %", "highest-loss 10 %", "one epoch", "FULL, ASHA"} <= set(found["method"])
    assert (workflow.folder / "results/smoke/figures/regret-asha.png").exists()

    workflow.run("publish_curves")
    shutil.rmtree(workflow.folder / "results/curves")
    curves["recorded"] = "results/reference/curves"
    assert not workflow.run(TARGET)["record_curves"]
    pd.testing.assert_frame_equal(pd.read_csv(table), found, rtol=1e-5)

    curves["pool"] = 6
    assert workflow.plan(TARGET)["record_curves"] == 3 * 2  # the new part alone
    curves["train"] = False
    assert not workflow.plan(TARGET)["record_curves"]
    curves |= {"pool": 4, "train": True}
    workflow.config["schedulers"] = ["none"]
    again = workflow.plan(TARGET)
    assert (again["record_curves"], again["simulate"]) == (0, 1)
    with (workflow.folder / OWN.name).open("a") as file:
        file.write("# changed\n")
    assert workflow.plan(TARGET)["record_curves"] == 2 * 2  # of its own selector alone
