"""Learning curves and the searches simulated on them, by the rules of the study."""

import shutil

import pandas as pd
import pytest
import yaml

from .conftest import ROOT, Workflow

OWN = ROOT / "docs/examples/own_methods.py"


@pytest.mark.slow
def test_curves_are_recorded_once_and_searches_simulated_on_them(tmp_path):
    shutil.copy2(OWN, tmp_path)
    experiment = yaml.safe_load((ROOT / "config/smoke.yaml").read_text()) | {
        "own_selectors": {"highest-loss": "own_methods:HighestLoss"},
        "selectors": ["full", "untuned", "rs2", "highest-loss"],
        "fractions": [0.1],
        "schedulers": ["hyperband", "asha"],
    }
    study = {"experiment": experiment, "pool": 4, "seeds": [0, 1], "part": 2}
    file = tmp_path / "study.yaml"
    workflow = Workflow(tmp_path, {"study": str(file), "train": 1}, [])
    workflow.snakefile = ROOT / "studies/curves/Snakefile"

    def run(*targets):
        file.write_text(yaml.safe_dump(study))
        return workflow.run(*targets)

    jobs = run()
    assert jobs["record"] == 3 * 2 * 2  # selectors, seeds, parts
    assert not workflow.plan()

    table = tmp_path / "results/smoke/tables/simulated.csv"
    found = pd.read_csv(table)
    assert set(found["scheduler"]) == {"hyperband", "asha"}
    full = found[found["method"] == "FULL"]
    assert (full["regret"] == 0).all()
    assert (full["speedup_samples"] == 1).all()
    assert {"rs2 10 %", "highest-loss 10 %", "one epoch", "FULL, ASHA"} <= set(found["method"])
    assert (tmp_path / "results/smoke/figures/regret-asha.png").exists()

    run("publish")
    shutil.rmtree(tmp_path / "results/curves")
    assert run()["record"] == 0
    del workflow.config["train"]
    assert run()["record"] == 0
    pd.testing.assert_frame_equal(pd.read_csv(table), found, rtol=1e-5)

    workflow.config["train"], study["pool"] = 1, 6
    file.write_text(yaml.safe_dump(study))
    assert workflow.plan()["record"] == 3 * 2  # the new part alone
    study["pool"] = 4
    file.write_text(yaml.safe_dump(study))
    with (tmp_path / OWN.name).open("a") as own:
        own.write("# changed\n")
    assert workflow.plan()["record"] == 2 * 2  # of its own selector alone
