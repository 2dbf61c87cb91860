"""Tables of simulated searches for readers, from tables whose numbers are known."""

import pandas as pd
import pytest

from automata.analysis.study import Study
from automata.analysis.wording import MISSING
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


def test_regrets_stand_by_data_set_with_speedup_and_chance(write):
    others = [row(scheduler="asha"), row(search="tpe"), row(warm_start=0.35), row("FULL", "full")]
    others += [
        row("gradmatch 1 %, 3 finalists", finalists=3),
        row(dataset="trec6", speedup_samples=21.0),
    ]
    others += [row(REPEAT, "full")]
    study = write("simulated", row(), row("one epoch", "full", regret=0.0), *others)
    found = readers.regrets(study, "hyperband").set_index("method")
    assert list(found.index) == ["AUTOMATA 1 %", "one epoch", REPEAT]
    assert found.loc[REPEAT, "DNA"] == "+0.5 (-3 to +4); 12.5 %"
    assert found["speedup by samples"].to_list() == ["12x to 21x", "12x", "12x"]
    assert found["speedup by CPU time"].to_list() == ["6x", "6x", "6x"]
    assert found.loc["AUTOMATA 1 %", "DNA"] == "+0.5 (-0.25 to +1.5); 12.5 %"
    apart = readers.regrets(study, "hyperband", finalists=True)
    assert apart["method"].to_list() == ["AUTOMATA 1 %, 3 finalists"]


def test_asha_stands_without_warm_start_and_with_the_papers(write):
    kappas = {"gradmatch 1 %": 0.0, "gradmatch 1 %, warm start 0.35": 0.35, "other": 0.5}
    rows = [row(method, scheduler="asha", warm_start=kappa) for method, kappa in kappas.items()]
    found = readers.regrets(write("simulated", *rows), "asha")
    assert found["method"].to_list() == ["AUTOMATA 1 %", "AUTOMATA 1 %, warm start 0.35"]


def test_horizon_exponents_stand_where_they_were_recorded(write):
    rows = [
        row("rs2 5 %, beta 0.5, by loss", "rs2", horizon_exponent=0.5, metric="log_loss"),
        row("rs2 5 %", "rs2", regret=0.25),
        row("rs2 5 %", "rs2", dataset="sst5"),
        row("rs2 5 %, 3 finalists", "rs2", finalists=3),
        row("rs2 5 %, warm start 0.35", "rs2", warm_start=0.35),
        row(),
    ]
    found = readers.horizon(write("simulated", *rows)).set_index("method")
    assert list(found.index) == ["RS2 5 %, beta 0.5, by loss", "RS2 5 %"]
    assert found.loc["RS2 5 %", "DNA"] == "+0.25 (-0.25 to +1.5); 12.5 %"
    assert "SST5" not in found


def test_the_median_rate_that_is_chosen(tmp_path, write):
    rates = (0.3, 0.1, 0.2)
    pool = [
        {
            "dataset": "dna",
            "configuration": place,
            "hyperparameters": f'{{"learning_rate": {rate}}}',
        }
        for place, rate in enumerate(rates)
    ]
    write("pool", *pool)
    often = [row(configuration=place, share=share) for place, share in enumerate((0.3, 0.4, 0.3))]
    found = readers.chosen(write("chosen", *often, row("rs2 1 %", configuration=0, share=1.0)))
    assert found.set_index("method").loc["AUTOMATA 1 %", "DNA"] == "0.2"


def test_claims_are_judged_by_speedup_and_the_bounds_of_regret(write):
    verdict = "abstract-3x-30x", "samples"

    def judged(*rows):
        return readers.claims(write("simulated", *rows)).set_index(["id", "by"]).loc[verdict]

    good = judged(row(speedup_samples=31.0))
    assert good["verdict"] == "reproduced"
    assert good["weakest panel"] == "DNA, 1 %: 31x, +0.5 (-0.25 to +1.5)"
    bad = judged(row(speedup_samples=31.0, regret=4.0, regret_low=3.0, regret_high=5.0))
    assert bad["verdict"] == "not reproduced"
    # The fastest within the loss stands for its panel, the panel that loses most for the claim.
    slower = row(fraction=0.1, speedup_samples=5.0, regret=1.0)
    faster = row(speedup_samples=31.0, regret=4.0)
    other = row(dataset="satimage", speedup_samples=31.0)
    assert judged(faster, slower, other)["weakest panel"].startswith("DNA, 10 %: 5x, +1 ")


def test_claims_are_judged_by_cpu_time_as_well(write):
    study = write("simulated", row(speedup_samples=31.0, speedup_cpu=2.0))
    found = readers.claims(study).set_index(["id", "by"])["verdict"]["abstract-3x-30x"]
    assert found.to_dict() == {"samples": "reproduced", "CPU time": "not reproduced"}


def test_claims_need_the_warm_start_of_the_paper(write):
    assert readers.claims(write("simulated", row(scheduler="asha"))).empty


def test_real_searches_are_compared_with_full_of_the_same_seed(tmp_path):
    def run(scheduler, selector, seed, accuracy, cpu, fraction=1.0):
        names = ["dataset", "search", "scheduler", "selector", "fraction", "seed"]
        key = ("dna", "random", scheduler, selector, fraction, seed)
        done = {"test_accuracy": accuracy, "cpu_seconds": cpu}
        return dict(zip(names, key, strict=True)) | done

    study = Study(tmp_path)
    study.__dict__["runs"] = pd.DataFrame(
        [
            *(run("hyperband", "full", seed, 0.9 + 0.01 * seed, 100.0) for seed in (0, 1)),
            *(run("one-epoch", "full", seed, 0.9, 20.0) for seed in (0, 1)),
            *(run("hyperband", "rs2", seed, 0.92, 10.0 + 15 * seed, 0.1) for seed in (0, 1)),
            run("hyperband", "untuned", 0, 0.8, 4.0, 0.0),
        ]
    )
    found = readers.real(study).set_index("method")["DNA"]
    assert found["one epoch"] == "+0.5 (+0 to +1); 5x"
    assert found["RS2 10 %"] == "-1.5 (-2 to -1); 7x"
    assert found["untuned"] == "+10 (+10 to +10); 25x"
    assert len(found) == 3


def test_share_of_real_searches_inside(write):
    where = {"dataset": "dna", "search": "random", "scheduler": "asha"}
    searches = [(True, False), (True, False), (False, False), (True, True)]
    rows = [where | {"inside": inside, "from_pool": pool} for inside, pool in searches]
    other = {**where, "search": "tpe", "inside": True, "from_pool": True}
    assert readers.validation(write("validation", *rows, other)).to_dict("records") == [
        where | {"searches": 3, "inside": "66.7 %", "from the pool": "1 of 1"},
        where | {"search": "tpe", "searches": 0, "inside": MISSING, "from the pool": "1 of 1"},
    ]


def test_decision_begins_with_full_and_one_epoch(write):
    def decided(method, fails_on, untested=""):
        said = {"search": "random", "scheduler": "hyperband", "method": method}
        numbers = {"speedup": 8.0, "most_excess": 1.5, "passes": 4}
        return {**said, **numbers, "fails_on": fails_on, "untested": untested}

    rows = [decided(f"rs2 {size} %", "", "sst5") for size in range(readers.BEST + 1)]
    last = [decided("one epoch", "trec6"), decided("FULL", "dna trec6")]
    found = readers.decision(write("decision", *rows, *last)).set_index("method")
    assert list(found.index) == ["one epoch", "FULL", *[f"RS2 {size} %" for size in range(12)]]
    assert found.loc["FULL", "fails on"] == "DNA, TREC6"
    assert found.loc["RS2 0 %", "not tested on"] == "SST5"
