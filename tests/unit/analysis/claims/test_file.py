"""The shipped file of claims, and how errors in such a file read."""

import math
from pathlib import Path

import pytest

from automata.analysis.claims import parse_claims
from automata.analysis.claims.shapes import MeanClaim, ReachesClaim
from automata.config.files import read, read_experiments
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


def test_the_grids_are_the_papers():
    configs = read_experiments([CONFIG / "config.yaml", CONFIG / "paper.yaml"])
    grids = [claim.grid for claim in CLAIMS.values() if hasattr(claim, "grid")]
    assert {name for grid in grids for name in grid.datasets} == {
        name for config in configs for name in config.datasets
    }
    for axis in ("searches", "schedulers", "fractions"):
        used = {value for grid in grids for value in getattr(grid, axis)} - {1.0}
        assert all(used == set(getattr(config, axis)) for config in configs)


def test_vague_words_have_a_reading_and_figures_a_limit():
    vague = ("around", "almost", "similar", "comparable", "minimal", "consistently", "larger")
    silent = [
        name
        for name, claim in CLAIMS.items()
        if any(word in claim.quote for word in vague) and not claim.reading
    ]
    assert silent == ["larger-models"]  # which is not checked
    means = [claim for claim in CLAIMS.values() if isinstance(claim, MeanClaim)]
    assert all(math.isfinite(claim.above) or math.isfinite(claim.below) for claim in means)


CLAIM = {"shape": "reaches", "threshold": 4, "quote": "4x", "location": "Section 1", "grid": GRID}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"claims": {}}, r"claims: \{\} is not valid; valid: .*"),
        ({"claims": {"mine": 3}}, r"claims\.mine.*: 3 is not valid; .*"),
        *(
            ({"claims": {"mine": {**CLAIM, **changes}}}, rf"claims\.mine\.{message}")
            for changes, message in (
                ({"shape": "tale"}, 'shape: "tale" is not valid; valid: reaches, .*, stated'),
                ({"speed": 3}, "speed: unknown key; valid: quote, .*loss.*"),
                ({"shape": "falls"}, "threshold: unknown key; valid: quote, .*subject"),
                ({"share": 2}, "share: 2 is not valid; valid: number > 0 and <= 1"),
                (
                    {"grid": {**GRID, "datasets": ["mnist"]}},
                    r"grid\.datasets\.0: \"mnist\" is not valid; valid: dna, satimage, .*",
                ),
            )
        ),
    ],
)
def test_a_mistake_is_named_in_one_line(content, message):
    with pytest.raises(UserError, match=rf"^claims\.yaml: {message}$"):
        parse_claims(content, Path("claims.yaml"))
