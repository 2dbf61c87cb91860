import pytest

from automata.analysis import wording


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.5362, "2.54"),
        (-0.35, "\N{MINUS SIGN}0.35"),
        (1e-15, "0"),
        (-1e-15, "0"),
        (1234.5, "1234"),
    ],
)
def test_number_has_three_digits(value, text):
    assert wording.number(value) == text


@pytest.mark.parametrize("shown", [wording.number, wording.percent])
@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_what_is_not_known_is_a_dash(shown, value):
    assert shown(value) == "\N{EN DASH}"


def test_share_is_shown_in_percent():
    assert wording.percent(0.903) == "90.3 %"


def test_spread_without_bounds_is_empty():
    assert wording.spread(float("nan"), 1.0) == ""


def test_one_thing_is_not_plural():
    assert [wording.count(n, "run") for n in (1, 2548)] == ["1 run", "2,548 runs"]
