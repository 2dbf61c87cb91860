"""Tables of simulated searches for readers, from tables whose numbers are known."""

import pandas as pd
import pytest

from automata.analysis.study import Study
from automata.names import REPEAT
from automata.simulation import readers


def row(method="gradmatch 1 %", selector="gradmatch", **changes):
    return {
        "dataset": "dna",
        "search": "random",
        "scheduler": "hyperband",
        "method": method,
        "selector": selector,
        "fraction": 0.01,
        "warm_start": 0.0,
        "horizon_exponent": 0.0,
        "metric": "accuracy",
        "finalists": 1,
        "speedup_samples": 12.0,
        "speedup_cpu": 6.0,
        "regret": 0.5,
        "regret_low": -0.25,
        "regret_high": 1.5,
        "regret_5th": -3.0,
        "regret_95th": 4.0,
        "lost_2": 0.125,
        **changes,
    }


@pytest.fixture
def write(tmp_path):
    def written(name, *rows):
        pd.DataFrame(rows).to_csv(tmp_path / f"{name}.csv", index=False)
        return Study(tmp_path)

    return written


def test_regrets_stand_by_data_set_with_speedups(write):
    others = [row(scheduler="asha"), row("FULL", "full"), row(dataset="trec6", speedup_samples=21)]
    study = write("simulated", row(), *others, row(REPEAT, "full"))
    found = readers.regrets(study).set_index("method")
    assert list(found.index) == [REPEAT, "AUTOMATA 1 %"]
    assert found.loc[REPEAT, "DNA"] == "+0.5 (-3, +4)"
    assert found.loc["AUTOMATA 1 %", "DNA"] == "+0.5 (-0.25, +1.5)"
    assert found.loc["AUTOMATA 1 %", "by samples"] == "12x\N{EN DASH}21x"
    assert found.loc["AUTOMATA 1 %", "by CPU time"] == "6x"
    assert found.loc[REPEAT, "TREC6"] == ""


def test_half_an_interval_is_the_median_over_methods(write):
    widths = {"rs2 1 %": 1.0, "rs2 5 %": 2.0, "rs2 10 %": 7.0, REPEAT: 100.0, "other": 100.0}
    write("simulated", *(row(name, regret_low=0, regret_high=it) for name, it in widths.items()))
    study = write("noise", {"dataset": "dna", "seeds": 2, "validation": 1, "test": 2, "best": 3})
    (line,) = readers.certainty(study).to_dict("records")
    assert line["half an interval"] == "1.00"
    assert line["two trainings, best quarter"] == "3.00"


def test_claims_are_judged_by_speedup_and_the_bounds_of_regret(write):
    def judged(*rows):
        found = readers.claims(write("simulated", *rows)).set_index(["id", "by"])["verdict"]
        return found["abstract-3x-30x", "samples"]

    assert judged(row(speedup_samples=31.0)) == "reproduced"
    worse = {"regret": 4.0, "regret_low": 3.0, "regret_high": 5.0}
    assert judged(row(speedup_samples=31.0, **worse)) == "not reproduced"


def test_claims_are_judged_by_cpu_time_as_well(write):
    study = write("simulated", row(speedup_samples=31.0, speedup_cpu=2.0))
    found = readers.claims(study).set_index(["id", "by"])["verdict"]["abstract-3x-30x"]
    assert found.to_dict() == {"samples": "reproduced", "CPU time": "not reproduced"}
