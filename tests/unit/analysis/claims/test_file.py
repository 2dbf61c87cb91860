"""The file of claims: what is in the shipped one, and how errors read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from automata.analysis.claims.by_panel import PointClaim
from automata.analysis.claims.claim import Claim, GridClaim
from automata.analysis.claims.table import KINDS
from automata.config.experiment import Experiment
from automata.config.files import read_experiments
from automata.errors import UserError

from .conftest import read_claims

CONFIG = Path(__file__).parents[4] / "config"
CLAIMS = read_claims(CONFIG / "claims.yaml")
POINTS = [
    # data set, search, scheduler, speedup, loss (Section 3.3)
    ("sst5", "tpe", "hyperband", 9.8, 2.8),
    ("sst5", "tpe", "hyperband", 7.35, -0.9),
    ("trec6", "tpe", "asha", 3.15, -3.4),
    ("trec6", "tpe", "asha", 2.68, -4.6),
    ("cifar10", "random", "hyperband", 15, 0.65),
    ("cifar10", "random", "hyperband", 8.7, 0.14),
    ("cifar100", "tpe", "asha", 3.7, -1),
    ("cifar100", "tpe", "asha", 2.3, -2),
]
FIGURE_1 = {"sst2", "glue-sst2", "cifar10", "cifar100", "connect4"}
FIGURE_3 = {"sst5", "trec6", "cifar10", "cifar100", "connect4"}
TEXT, IMAGE = {"sst2", "glue-sst2", "sst5", "trec6"}, {"cifar10", "cifar100", "svhn"}
TABULAR = {"dna", "satimage", "letter", "connect4"}
EVERYTHING = TEXT | IMAGE | TABULAR


def paper() -> list[Experiment]:
    return read_experiments([CONFIG / "config.yaml", CONFIG / "paper.yaml"])


def test_every_point_of_the_text_is_there():
    found = [
        (*claim.panels[0], claim.low, claim.loss)
        for claim in CLAIMS.values()
        if isinstance(claim, PointClaim)
    ]
    assert found == POINTS


@pytest.mark.parametrize("claim", [c for c in CLAIMS.values() if isinstance(c, PointClaim)])
def test_a_point_quotes_its_numbers(claim):
    assert f"{claim.low:g}x" in claim.quote
    assert f"{abs(claim.loss):g}%" in claim.quote
    assert ("gain" in claim.quote) == (claim.loss < 0)
    assert ("around" in claim.quote) == (claim.around > 0)


HYPERBAND, ASHA = {"schedulers": ["hyperband"]}, {"schedulers": ["asha"]}
SMALL, LARGE = {"fractions": [0.01, 0.05]}, {"fractions": [0.1, 0.3]}
ALL_THREE = {"selectors": ["random", "craig", "gradmatch"]}
CO2, ENERGY = {"quantity": "co2_time_ratio"}, {"quantity": "energy_ratio"}
ACCURACY = {"quantity": "test_accuracy"}
TO_30X, TO_15X = {"low": 10, "high": 30, "loss": 2.5}, {"low": 10, "high": 15, "loss": 2.5}
BEST = {"quantity": "speedup", "share": 0.9}
RANDOM, CRAIG = ({"against": name, "more_than": 0} for name in ("random", "craig"))
FULL = {"against": "full", "quantity": "best_validation_accuracy"}
ABOVE, BELOW = {**FULL, "more_than": -2}, {**FULL, "less_than": -2}


@pytest.mark.parametrize(
    ("name", "kind", "datasets", "said"),
    [
        ("abstract-3x-30x", "range", EVERYTHING, {"low": 3, "high": 30, "loss": 2}),
        ("contributions-3x-30x", "range", FIGURE_1, {"low": 3, "high": 30, "loss": 2}),
        ("figure-1-hyperband", "range", FIGURE_1, {**TO_30X, **HYPERBAND}),
        ("figure-1-hyperband-energy", "similar", FIGURE_1, {**ENERGY, **HYPERBAND}),
        ("figure-1-asha", "range", FIGURE_1, {"low": 2, "high": 3, "loss": 2, **ASHA}),
        ("conclusion-hyperband", "range", FIGURE_3, {**TO_15X, **HYPERBAND}),
        ("conclusion-asha", "range", FIGURE_3, {"low": 3, "high": None, "loss": 2.5, **ASHA}),
        ("asha-more-efficient", "scheduler", EVERYTHING, {"faster": "asha", "slower": "hyperband"}),
        ("figure-3-best", "best-tradeoff", FIGURE_3, BEST),
        ("figure-3-text-best", "best-tradeoff", {"sst5", "trec6"}, BEST),
        ("figure-3-image-best", "best-tradeoff", {"cifar10", "cifar100"}, BEST),
        ("figure-3-tabular-best", "best-tradeoff", {"connect4"}, BEST),
        ("appendix-best", "best-tradeoff", EVERYTHING, BEST),
        ("figure-4-best", "best-tradeoff", TEXT, BEST),
        ("figure-5-best", "best-tradeoff", IMAGE, BEST),
        ("figure-6-best", "best-tradeoff", TABULAR, BEST),
        ("figure-7-energy-best", "best-tradeoff", {"cifar100"}, {**BEST, **ENERGY}),
        ("figure-7-co2-best", "best-tradeoff", {"svhn"}, {**BEST, **CO2}),
        ("better-than-random", "paired", EVERYTHING, {**RANDOM, **ACCURACY}),
        ("small-subsets-than-random", "paired", {"sst5", "trec6"}, {**RANDOM, **ACCURACY, **SMALL}),
        ("small-subsets-than-craig", "paired", {"sst5", "trec6"}, {**CRAIG, **ACCURACY, **SMALL}),
        ("trained-on-30-percent", "paired", EVERYTHING, {**ABOVE, "fractions": [0.3]}),
        ("trained-on-1-and-5-percent", "paired", EVERYTHING, {**BELOW, **SMALL}),
        ("energy-than-random", "paired", {"cifar100"}, {**RANDOM, **ENERGY}),
        ("energy-than-craig", "paired", {"cifar100"}, {**CRAIG, **ENERGY}),
        ("co2-than-random", "paired", {"svhn"}, {**RANDOM, **CO2}),
        ("co2-than-craig", "paired", {"svhn"}, {**CRAIG, **CO2}),
        ("smaller-is-faster", "order", EVERYTHING, {"selectors": ["gradmatch"], "share": 0.9}),
        ("smaller-saves-energy", "order", EVERYTHING, {**ENERGY, "share": 0.9}),
        ("smaller-on-the-right", "order", EVERYTHING, {**ALL_THREE, "share": 1}),
        ("large-subsets-without-loss", "range", EVERYTHING, {"low": 1, "loss": 0.5, **LARGE}),
        ("larger-data-sets", "trend", EVERYTHING, {"more_than": 0.5}),
        ("similar-energy", "similar", EVERYTHING, ENERGY),
        ("similar-co2", "similar", EVERYTHING, {"quantity": "co2_measured_ratio"}),
        ("energy-than-full", "range", {"cifar100"}, {"low": 1, "loss": None, **ENERGY}),
    ],
)
def test_every_claim_about_the_grid_is_there(name, kind, datasets, said):
    claim = CLAIMS[name]
    assert type(claim) is KINDS[kind]
    found = {**claim.grid.model_dump(), **claim.model_dump()}
    assert set(found["datasets"]) == datasets
    expected = {
        "searches": ["random", "tpe"],
        "schedulers": ["hyperband", "asha"],
        "fractions": [0.01, 0.05, 0.1, 0.3],
        **said,
    }
    assert {key: found[key] for key in expected} == expected


def test_the_other_claims_are_points_and_about_no_grid():
    kinds = [kind for claim in CLAIMS.values() for kind in KINDS if type(claim) is KINDS[kind]]
    assert len(kinds) == 47
    counts = {"point": 8, "hours": 1, "footprint": 1, "unchecked": 2}
    assert {kind: kinds.count(kind) for kind in counts} == counts


def test_the_introductions_numbers():
    hours = 1000 * 6
    kilograms = [hours * 0.25 * grams / 1000 for grams in (432, 920)]  # of 250 W
    miles = [mass / 0.4 for mass in kilograms]  # a car's 400 g each
    claim = CLAIMS["footprint"]
    assert claim.gives == "{} h; {:.0f} to {:.0f} kg CO2e; {:.0f} to {:.0f} miles".format(
        hours, *kilograms, *miles
    )
    assert "6000 GPU hours" in claim.quote
    assert "640 to 1400 kg" in claim.quote
    assert "1600 to 3500 miles" in claim.quote
    assert [hours, *kilograms, *miles] == pytest.approx([6000, 640, 1400, 1600, 3500], rel=0.05)


def test_the_hours_of_a_training_are_of_the_papers_epochs():
    hours = CLAIMS["cifar10-6-hours"]
    assert (hours.dataset, hours.hours, hours.device) == ("cifar10", 6, "V100")
    (image,) = (config for config in paper() if "cifar10" in config.datasets)
    assert hours.epochs == image.protocol_of("cifar10").epochs


def test_vague_words_have_a_reading():
    vague = ("around", "almost", "similar", "comparable", "minimal", "consistently", "larger")
    silent = [
        name
        for name, claim in CLAIMS.items()
        if any(word in claim.quote for word in vague) and not claim.reading
    ]
    assert silent == ["larger-models"]  # which is not checked


def test_the_grids_are_the_papers():
    configs = paper()
    grids = [claim.grid for claim in CLAIMS.values() if isinstance(claim, GridClaim)]
    assert set().union(*(grid.datasets for grid in grids)) == {
        dataset for config in configs for dataset in config.datasets
    }
    for axis in ("searches", "schedulers", "fractions"):
        used = set().union(*(getattr(grid, axis) for grid in grids))
        assert all(used == set(getattr(config, axis)) for config in configs)


def test_every_claim_has_a_rule_and_a_place():
    assert all(claim.rule and claim.quote and claim.location for claim in CLAIMS.values())


POINT = {
    "kind": "point",
    "quote": "4x",
    "location": "Section 1",
    "low": 4,
    "loss": 1,
    "grid": {
        "datasets": ["dna"],
        "searches": ["tpe"],
        "schedulers": ["asha"],
        "fractions": [0.1],
    },
}


@pytest.fixture
def read(tmp_path):
    def parse(content: Any) -> dict[str, Claim]:
        file = tmp_path / "claims.yaml"
        text = content if isinstance(content, str) else yaml.safe_dump(content)
        file.write_text(text)
        return read_claims(file)

    return parse


def test_a_claim_is_read(read):
    assert read({"claims": {"mine": POINT}})["mine"].low == 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "pint"}, r"claims\.mine\.kind: \"pint\" is not valid; valid: point, range, .*"),
        ({"kind": None}, r"claims\.mine\.kind: null is not valid; valid: point, .*"),
        ({"kind": []}, r"claims\.mine\.kind: \[\] is not valid; valid: point, .*"),
        (
            {"grid": {**POINT["grid"], "datasets": ["mnist"]}},
            r"claims\.mine\.grid\.datasets\.0: \"mnist\" is not valid; valid: dna, satimage, .*",
        ),
        (
            {"grid": {**POINT["grid"], "schedulers": ["shaa"]}},
            r"claims\.mine\.grid\.schedulers\.0: \"shaa\" is not valid; valid: hyperband, asha.*",
        ),
        (
            {"grid": {**POINT["grid"], "searches": []}},
            r"claims\.mine\.grid\.searches: \[\] is not valid; valid: a list with at least.*",
        ),
        (
            {"kind": "order", "selectors": ["omp"]},
            r"claims\.mine\.selectors\.0: \"omp\" is not valid; valid: full, .*",
        ),
        ({"speed": 3}, r"claims\.mine\.speed: unknown key; valid: quote, .*loss.*"),
        ({"quote": ""}, r"claims\.mine\.quote: \"\" is not valid; valid: a text that is not empty"),
        ({"low": "fast"}, r"claims\.mine\.low: \"fast\" is not valid; valid: number > 0"),
    ],
)
def test_a_mistake_is_named_in_one_line(read, changes, message):
    with pytest.raises(UserError, match=rf"claims\.yaml: {message}$") as error:
        read({"claims": {"mine": {**POINT, **changes}}})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("claims: {a: {kind: point}, a: {kind: point}}", "duplicate key a"),
        ({}, "claims: a section of claims by their ids is missing"),
        ({"claims": []}, "claims: a section of claims by their ids is missing"),
        ({"claims": {"mine": 3}}, r"claims\.mine: a claim is a section of keys"),
        ({"claim": {}}, "claim: unknown key; valid: claims, grids"),
    ],
)
def test_a_file_that_is_none_of_claims_is_refused(read, content, message):
    with pytest.raises(UserError, match=message) as error:
        read(content)
    assert "claims.yaml" in str(error.value)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"none\.yaml: cannot be read"):
        read_claims(tmp_path / "none.yaml")
