import pandas as pd

from automata.page.claims import claims, tally

from .conftest import claims_table


def test_verdicts_are_counted_in_one_order(runs):
    assert tally(claims(claims_table(runs)[::-1])) == [
        ("reproduced", "yes", 1),
        ("not reproduced", "no", 1),
        ("not run", "none", 1),
    ]


def test_firmness_is_said_in_words(runs):
    assert [claim.firm for claim in claims(claims_table(runs))] == [
        "firm: the whole 95 % interval agrees",
        "not firm: too few seeds",
        "",
    ]


def test_further_columns_are_shown_as_they_are():
    (claim,) = claims(pd.DataFrame([{"id": "a", "verdict": "maybe", "figure": "1"}]))
    assert claim.others == [("figure", "1")]
    assert claim.kind == "none"
    assert claim.records == []


def test_place_in_the_paper_may_be_called_where():
    (claim,) = claims(pd.DataFrame([{"id": "a", "where": "Section 4"}]))
    assert claim.location == "Section 4"
