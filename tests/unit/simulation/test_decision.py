"""The rule by which a way of tuning is recommended, on tables made by hand."""

import pandas as pd
import pytest

from automata.names import REPEAT
from automata.simulation.decision import decision


def row(dataset, method, speedup, excess, lost, **more):
    said = {"search": "random", "scheduler": "hyperband", "warm_start": 0.0}
    said["selector"] = "rs2" if method.startswith(("rs2", "a")) else "full"
    numbers = {"speedup_samples": speedup, "excess_all_high": excess, "lost_2": lost}
    return {**said, "dataset": dataset, "method": method, **numbers, **more}


def table(*rows):
    repeats = [row(name, REPEAT, 1.0, 0.0, 0.02) for name in ("dna", "trec6")]
    own = [row(name, "FULL", 1.0, 2.0 * (name == "trec6"), 0.0) for name in ("dna", "trec6")]
    return pd.DataFrame([*repeats, *own, *rows])


def found(*rows):
    return decision(table(*rows)).set_index("method")


def test_the_fastest_that_passes_everywhere_is_recommended():
    methods = found(
        row("dna", "one epoch", 4.0, 0.4, 0.0),
        row("trec6", "one epoch", 9.0, 0.9, 0.07),
        row("dna", "rs2 1 %", 13.0, 0.5, 0.0),
        row("trec6", "rs2 1 %", 13.0, 8.0, 0.5),
        row("dna", "rs2 10 %", 3.0, 0.5, 0.0),
        row("trec6", "rs2 10 %", 3.0, 0.5, 0.0),
        row("dna", "untuned", 15.0, 0.0, 0.0),
        row("dna", "FULL, ASHA", 20.0, 0.0, 0.0),
        row("trec6", "FULL, ASHA", 20.0, 0.0, 0.0),
    )
    assert methods.index[methods["recommended"]].tolist() == ["one epoch"]
    assert methods.loc["one epoch", "speedup"] == pytest.approx(6)
    assert methods.loc["rs2 1 %", "fails_on"] == "trec6"
    assert methods.loc["rs2 10 %", ["passes", "most_excess"]].tolist() == [2, 0.5]
    assert not {"untuned", "FULL, ASHA"} & set(methods.index)


@pytest.mark.parametrize(
    ("of_trec6", "column"),
    [
        # The bound is not below one point.
        ([row("trec6", "a", 5.0, 1.0, 0.0)], "fails_on"),
        # More losses than the repeat's 2 % and 5 points.
        ([row("trec6", "a", 5.0, 0.1, 0.071)], "fails_on"),
        # Another training, or none.
        ([row("trec6", "a", 5.0, 0.1, 0.0, warm_start=0.35)], "untested"),
        ([], "untested"),
    ],
)
def test_nothing_is_recommended_that_one_data_set_does_not_pass(of_trec6, column):
    methods = found(row("dna", "a", 5.0, 0.1, 0.0), *of_trec6)
    assert methods.loc["a", column] == "trec6"
    assert not methods["recommended"].any()


def test_a_search_that_was_simulated_on_fewer_data_sets_recommends_nothing():
    other = table(row("dna", "a", 5.0, 0.1, 0.0)).query("dataset == 'dna'").assign(search="tpe")
    methods = decision(pd.concat([table(), other])).query("search == 'tpe'")
    assert set(methods["untested"]) == {"trec6"}
    assert not methods["recommended"].any()


def test_full_is_a_control_that_is_not_recommended():
    methods = found(row("dna", "a", 5.0, 2.0, 0.0), row("trec6", "a", 5.0, 0.0, 0.0))
    assert methods.loc["FULL", ["fails_on", "recommended"]].tolist() == ["trec6", False]


def test_without_a_repeat_nothing_passes():
    methods = decision(pd.DataFrame([row("dna", "a", 5.0, 0.1, 0.0)]))
    assert methods["untested"].tolist() == ["dna"]
    assert not methods["recommended"].any()
