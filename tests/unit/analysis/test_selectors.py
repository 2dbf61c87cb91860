"""Selectors against each other: paired differences."""

import pandas as pd
import pytest

from automata.analysis.selectors import ALL, paired_differences, pooled_differences

from .conftest import only, run


def pairs(errors, **changes):
    """Return runs of RANDOM, and of RS2 whose errors are larger by `errors`."""
    rows = []
    for seed, error in enumerate(errors):
        rows.append(run("random", seed=seed, **changes))
        rows.append(run("rs2", seed=seed, relative_test_error=1.0 + error, **changes))
    return rows


def test_an_own_selector_is_contrasted_with_random_and_with_automata():
    made = paired_differences(pd.DataFrame([run(it) for it in ("random", "gradmatch", "mine")]))
    found = [(row.selector, row.baseline) for row in made.itertuples()]
    assert found == [("gradmatch", "random"), ("mine", "random"), ("mine", "gradmatch")]


@pytest.mark.parametrize("column", ["seed", "dataset", "search", "fraction", "refused"])
def test_runs_without_a_partner_make_no_difference(column):
    assert paired_differences(pd.DataFrame([run("random"), run("rs2", **{column: 7})])).empty


SETS = {"dna": [-1.0] * 5, "letter": [-3.0] * 3, "sst2": [-5.0]}


@pytest.mark.parametrize(
    ("rows", "fraction", "expected"),
    [
        (  # seed 0: -2, seed 1: -1
            [*pairs([-1.0, 0.0]), *pairs([-3.0, -2.0], scheduler="asha")],
            0.1,
            (-1.5, -2, -1, "seeds", 2, 4),
        ),
        (  # three data sets count alike whatever their seeds
            [row for name, errors in SETS.items() for row in pairs(errors, dataset=name)],
            ALL,
            (-3, -7.968275, 1.968275, "data sets", 3, 9),  # 4.3027 standard errors of 2 / sqrt 3
        ),
    ],
)
def test_panels_are_pooled_by_seeds_or_data_sets(rows, fraction, expected):
    row = only(pooled_differences(pd.DataFrame(rows)), fraction=fraction)
    bounds = [f"error_difference{side}" for side in ("", "_low", "_high")]
    found = [row[name] for name in (*bounds, "over", "units", "pairs")]
    assert found[:3] == pytest.approx(expected[:3])
    assert tuple(found[3:]) == expected[3:]
    assert row["interval"] == ("95 %" if row["units"] > 2 else "range")
