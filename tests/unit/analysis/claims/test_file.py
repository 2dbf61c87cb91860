"""The shipped file of claims, and how errors in such a file read."""

from pathlib import Path

import pytest

from automata.analysis.claims import parse_claims
from automata.analysis.claims.shapes import ReachesClaim
from automata.config.files import read
from automata.errors import UserError

from .conftest import GRID

CONFIG = Path(__file__).parents[4] / "config"
CLAIMS = parse_claims(read(CONFIG / "claims.yaml"), CONFIG / "claims.yaml")
SPEEDUPS = [c for c in CLAIMS.values() if isinstance(c, ReachesClaim) and c.threshold > 1]


@pytest.mark.parametrize("claim", SPEEDUPS, ids=lambda claim: claim.location)
def test_a_speedup_is_the_one_that_is_quoted(claim):
    assert len(CLAIMS) == 47
    around = "around covers 10 % less" in claim.reading
    quoted = claim.threshold / 0.9 if around else claim.threshold
    assert f"{quoted:g}x" in claim.quote.replace("x - ", "x-")
    assert ("around" in claim.quote.partition("performance")[0]) >= around
    if len(claim.grid.panels) == 1:
        assert f"{abs(claim.loss):g}%" in claim.quote
        assert ("gain" in claim.quote) == (claim.loss < 0)


def test_the_introductions_arithmetic():
    hours = 1000 * 6
    kilograms = [hours * 0.25 * grams / 1000 for grams in (432, 920)]  # of 250 W
    miles = [mass / 0.4 for mass in kilograms]  # a car's 400 g each
    words = "{} h; {:.0f} to {:.0f} kg CO2e; {:.0f} to {:.0f} miles"
    assert CLAIMS["footprint"].ours == words.format(hours, *kilograms, *miles)
    assert [hours, *kilograms, *miles] == pytest.approx([6000, 640, 1400, 1600, 3500], rel=0.05)


CLAIM = {"shape": "reaches", "threshold": 4, "quote": "4x", "location": "Section 1", "grid": GRID}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"claims": {}}, r"claims: \{\} is not valid; valid: .*"),
        (
            {"claims": {"mine": {**CLAIM, "shape": "tale"}}},
            r'claims\.mine\.shape: "tale" is not valid; valid: reaches, .*, stated',
        ),
        (
            {"claims": {"mine": {**CLAIM, "shape": "falls"}}},
            r"claims\.mine\.threshold: unknown key; valid: quote, .*subject",
        ),
    ],
)
def test_a_mistake_is_named_in_one_line(content, message):
    with pytest.raises(UserError, match=rf"^claims\.yaml: {message}$"):
        parse_claims(content, Path("claims.yaml"))
