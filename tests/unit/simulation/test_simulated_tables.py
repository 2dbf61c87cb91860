"""Tables of simulated searches for readers, from tables whose numbers are known."""

import pandas as pd
import pytest

from automata.analysis.study import Study
from automata.names import REPEAT
from automata.simulation import readers

from .made_curves import table_row as row


@pytest.fixture
def write(tmp_path):
    def written(*rows):
        pd.DataFrame(rows).to_csv(tmp_path / "simulated.csv", index=False)
        return Study(tmp_path)

    return written


def test_losses_have_the_speedups_and_the_regret_on_each_data_set(write):
    study = write(
        row(),
        row(dataset="trec6", regret=2.0),
        row("one epoch", "full", regret=0.0),
        row("hedge", "rs2", regret=0.0),
        row(REPEAT, "full"),
        *(row(scheduler="asha"), row("FULL", "full"), row("gradmatch 1 %, 3 finalists")),
    )
    found = readers.losses(study).set_index("method")
    assert list(found.index) == [REPEAT, "one epoch", "AUTOMATA 1 %", "hedge"]
    assert found["by samples"].to_list() == ["3.5x", "1x", "3.5x\N{EN DASH}11x", "1x"]
    assert found["by CPU time"].to_list() == ["6x", "6x", "6x", "6x"]
    assert found.loc["AUTOMATA 1 %", "DNA"] == "+0.5 (-0.25, +1.5)"
    assert found.loc[REPEAT, "DNA"] == "+0.5 (-1.5, +3.5)"
    assert found["TREC6"].to_list() == ["", "", "+2 (+1.25, +3)", ""]
    assert found["worst"].to_list() == ["+0.5", "+0", "+2", "+0"]


def test_certainty_has_the_difference_of_two_trainings(tmp_path):
    (tmp_path / "noise.csv").write_text("dataset,seeds,test,best\ndna,2,2,3\n")
    (row,) = readers.certainty(Study(tmp_path)).to_numpy().tolist()
    assert row == ["DNA", 2, "2.00", "3.00"]


def test_claims_are_judged_by_speedup_and_the_bounds_of_regret(write):
    def judged(*rows):
        table = readers.claims(write(*rows)).set_index(["id", "by"])
        return table["verdict"]["abstract-3x-30x"].to_dict()

    both = {"samples": "reproduced", "CPU time": "reproduced"}
    neither = dict.fromkeys(both, "not reproduced")
    fast = row(speedup_samples=31.0, speedup_cpu=31.0)
    assert judged(fast) == both
    assert judged(row(speedup_samples=31.0, speedup_cpu=2.0)) == both | {
        "CPU time": "not reproduced"
    }
    assert judged(fast | {"regret": 4.0, "regret_low": 3.0, "regret_high": 5.0}) == neither
    # ASHA has a warm start in the paper.
    assert judged(fast, row(scheduler="asha", regret=9.0)) == both
