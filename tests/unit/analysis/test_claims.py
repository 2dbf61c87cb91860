"""Small studies and the verdicts on them, computed by hand, and mistakes in a file of claims."""

import numpy as np
import pandas as pd
import pytest

from automata.analysis.claims import ClaimsFile
from automata.analysis.ratios import COLUMNS
from automata.analysis.study import PANEL, Panel, Study
from automata.analysis.tables import write
from automata.analysis.tradeoff import tradeoff
from automata.config.base import parsed
from automata.config.files import SHIPPED, read
from automata.errors import UserError

from .conftest import run as row

HYPERBAND, ASHA = Panel("satimage", "tpe", "hyperband"), Panel("satimage", "tpe", "asha")
GRID = {
    "datasets": ["satimage"],
    "searches": ["tpe"],
    "schedulers": ["hyperband"],
    "fractions": [0.1],
}

YES, NO, NOT_RUN = "reproduced", "not reproduced", "not run"
FIRM, OPEN, NONE = "interval", "within the interval", "no interval"
NO_FRACTION, NO_PANEL = "fractions missing", "panels missing"

BOTH = {"schedulers": ["hyperband", "asha"]}
SIZES = {"fractions": [0.1, 0.3]}
ESTIMATED = {"energy_method": "estimated", "energy_source": "codecarbon CPU load"}

REACHES = {"shape": "reaches", "threshold": 4, "loss": 1}
COVERS = {"shape": "covers-more", "baseline": ["random", "craig"]}
FALLS = {"shape": "falls"}
PAIRED = {"shape": "difference", "baseline": "random", "quantity": "test_accuracy", "above": 0}
SIMILAR = {
    "shape": "ratio",
    "quantity": "energy_ratio",
    "baseline_quantity": "speedup",
    "above": 0.8,
    "below": 1.25,
}
FASTER = {
    "shape": "ratio",
    "quantity": "total_seconds",
    "subject": "full",
    "baseline": "full",
    "under": ["hyperband", "asha"],
    "above": 1,
    "fractions": [1],
    **BOTH,
}
SETS = ["dna", "satimage", "trec6", "letter", "connect4", "svhn"]
LARGER = {"shape": "correlation", "quantity": "speedup", "above": 0.5, "datasets": SETS}


def run(speedup=4.0, error=1.0, *, panel=HYPERBAND, **changes):
    """Make a run of AUTOMATA: a speedup and an error in points."""
    accuracy = 0.9 - error / 100
    values = {
        **dict(zip(PANEL, panel, strict=True)),
        "speedup": speedup,
        "energy_ratio": speedup,
        "total_seconds": 100.0 / speedup,
        "relative_test_error": error,
        "test_accuracy": accuracy,
        "best_validation_accuracy": accuracy,
        "train_rows": 1000,
        "configurations": 27,
        "model": "mlp",
        "data_sha256": panel[0],
        "protocol_hash": panel[2],
    }
    return row(**{**values, **changes})


def runs(speedups, errors=1.0, **more):
    """Make the runs of several seeds, one per speedup."""
    values = [errors] * len(speedups) if isinstance(errors, int | float) else errors
    pairs = enumerate(zip(speedups, values, strict=True))
    return [run(fast, bad, seed=seed, **more) for seed, (fast, bad) in pairs]


def sizes(small, large, **changes):
    """Make runs of 10 % and 30 % with these speedups per seed."""
    return runs(small, **changes) + runs(large, fraction=0.3, **changes)


def contest(own, random, craig, seeds=3, **changes):
    """Make the runs of one fraction: a speedup and an error per selector."""
    points = {"gradmatch": own, "random": random, "craig": craig}
    return [
        row
        for selector, (fast, bad) in points.items()
        for row in runs([fast] * seeds, bad, selector=selector, **changes)
    ]


def duel(own, other, **changes):
    """Make runs of AUTOMATA and RANDOM with these errors per seed."""
    rows = runs([4.0] * len(own), own, **changes)
    return rows + runs([4.0] * len(other), other, selector="random", **changes)


def full(hyperband, asha, **changes):
    """Make FULL's runs under two schedulers that take so many seconds per seed."""
    return [
        run(1.0, 0.0, selector="full", fraction=1.0, seed=seed, panel=panel, total_seconds=value)
        | changes
        for panel, seconds in ((ASHA, asha), (HYPERBAND, hyperband))
        for seed, value in enumerate(seconds)
    ]


def growing(speedups):
    """Make runs of data sets of 100, 200, ... rows with these speedups."""
    return [
        run(fast, panel=(name, "tpe", "hyperband"), train_rows=100 * number)
        for number, (name, fast) in enumerate(zip(SETS, speedups, strict=False), start=1)
    ]


@pytest.fixture
def check(tmp_path):
    """Give a function that checks a claim, by default about one panel and 10 %, against runs."""

    def check(rows, **keys):
        grid = {axis: keys.pop(axis, values) for axis, values in GRID.items()}
        content = {"quote": "as they say", "location": "Section 1", "grid": grid, **keys}
        table = pd.DataFrame(rows, columns=list(run()))
        write(table[COLUMNS], tmp_path / "ratios.csv")
        write(tradeoff(table[COLUMNS]), tmp_path / "tradeoff.csv")
        write(table, tmp_path / "runs.parquet")
        claims = parsed(ClaimsFile, {"claims": {"mine": content}}, "claims.yaml: ").claims
        return claims["mine"].check(Study(tmp_path))

    return check


STUDIES = [
    # A ratio at a loss: both at one fraction, at the limits, over seeds.
    (REACHES, [run(4.0, 1.0)], YES, NONE),
    (REACHES, [run(3.99, 1.0)], NO, NONE),
    (REACHES, [run(4.0, 1.01)], NO, NONE),
    ({**REACHES, **SIZES}, [run(2.0, 0.0), run(4.0, 1.0, fraction=0.3)], YES, NONE),
    (REACHES, runs([5.0, 5.5, 6.0]), YES, FIRM),
    (REACHES, runs([5.0, 5.5, 6.0], [-2.0, 0.5, 2.5]), YES, OPEN),
    # What was not run may turn the verdict.
    ({**REACHES, **BOTH}, runs([5.0] * 3), YES, NO_PANEL),
    ({**REACHES, **BOTH, "share": 0.5}, runs([5.0] * 3), YES, FIRM),
    ({**REACHES, **SIZES}, runs([5.0] * 3), YES, NO_FRACTION),
    # The area beyond a ratio of 1, below the worst error: here 4.5, 3 and 0.
    (COVERS, contest((4, 0.5), (4, 1), (3, 2)), YES, NONE),
    (COVERS, contest((4, 1), (2.5, 0), (9, 2)), NO, NONE),  # 3 and 3
    (COVERS, contest((4, 1), (2.4, 0), (9, 2)), YES, NONE),  # 3 and 2.8
    (COVERS, contest((2, -1), (4, -0.5), (3, -0.5)), NO, NONE),  # from FULL's 0: 1 and 1.5
    (  # 9 and 8.7 at 10 %; at 30 % RANDOM gets 1.1 more, AUTOMATA 0.5
        {**COVERS, **SIZES},
        contest((4, 1), (4, 1.1), (2, 4)) + contest((2, 0.5), (2, 0), (2, 4), fraction=0.3),
        *(NO, NONE),
    ),
    (  # the others have no such seed
        COVERS,
        [*contest((4, 1), (4, 0.5), (3, 2)), run(99.0, -9.0, seed=7)],
        *(NO, NONE),
    ),
    # Strictly falling, from each fraction to the next.
    ({**FALLS, **SIZES}, sizes([5.0, 5.1, 5.2], [4.0, 4.1, 4.2]), YES, FIRM),
    ({**FALLS, **SIZES}, sizes([5.0, 5.0], [5.0, 5.0]), NO, NONE),
    ({**FALLS, **SIZES}, runs([5.0] * 3), NOT_RUN, ""),
    # Means over pairs of runs.
    (PAIRED, duel([1.0, 1.1, 1.2], [2.0, 2.2, 2.1]), YES, FIRM),
    (PAIRED, duel([1.0, 3.0, 1.0], [2.0, 2.0, 2.5]), YES, OPEN),
    (PAIRED, duel([1.0] * 3, [1.0] * 3), NO, FIRM),
    (PAIRED, [{**row, "refused": "diverged"} for row in duel([1.0], [2.0])], NOT_RUN, ""),
    (SIMILAR, runs([4.0] * 3, energy_ratio=4.9), YES, FIRM),
    (SIMILAR, runs([4.0] * 3, energy_ratio=3.1), NO, FIRM),
    (FASTER, full([20, 22, 24], [10, 11, 12]), YES, FIRM),
    (FASTER, [*full([20], []), *full([], [10], machine="there")], NOT_RUN, ""),
    (LARGER, growing([1, 2, 3, 4, 5, 6]), YES, NONE),
    (LARGER, growing([2, 4, 1, 3, 5]), NO, NONE),  # exactly 0.5
]


@pytest.mark.parametrize(("keys", "rows", "verdict", "firm"), STUDIES)
def test_a_small_study_has_its_verdict(check, keys, rows, verdict, firm):
    finding = check(rows, **keys)
    assert (finding.verdict, finding.firm) == (verdict, firm)


def test_the_correlation_is_of_ranks(check):
    speedups = [1, 2, 2, 2, 7, 3]
    ranks = np.array([1, 3, 3, 3, 6, 5])
    expected = np.corrcoef(range(6), ranks)[0, 1]
    assert f"rank correlation {expected:.2f} over" in check(growing(speedups), **LARGER).ours


ENERGY = {"quantity": "energy_ratio"}
SAVES = {**REACHES, **ENERGY, "threshold": 1, "loss": 9}


@pytest.mark.parametrize("keys", [SAVES, {**COVERS, **ENERGY}, SIMILAR])
def test_energy_estimated_from_cpu_time_is_no_evidence(check, keys):
    rows = [{**row, **ESTIMATED} for row in contest((4, 0.5), (4, 1), (3, 2))]
    finding = check(rows, **keys)
    assert finding.verdict == NOT_RUN
    assert finding.ours.endswith("; energy estimated from CPU time does not count")
    partly = [{**row, "energy_source": "codecarbon CPU load + NVML"} for row in rows]
    assert check(partly, **keys).verdict == YES


def test_a_mean_energy_is_of_the_seeds_whose_energy_was_measured(check):
    rows = [*runs([2.0, 8.0]), run(90.0, seed=2, **ESTIMATED)]
    ours = check(rows, **SAVES).ours
    assert ours == "4x at +1 pp, fraction 10 %"  # the geometric mean


@pytest.mark.parametrize(
    ("keys", "rows"),
    [
        (REACHES, contest((4, 0.5), (4, 1), (3, 2))),
        (COVERS, contest((4, 0.5), (4, 1), (3, 2))),
        (SIMILAR, runs([4.0] * 3)),
        (FASTER, full([8, 9, 7], [4, 3, 2])),
    ],
)
def test_no_claim_is_judged_by_times_beside_other_work(check, keys, rows):
    assert check(rows, **keys).verdict == YES
    busy = [{**row, "other_cpu_share": 0.2} for row in rows]
    finding = check([{**row, "speedup": row["speedup"] == 1 or None} for row in busy], **keys)
    assert finding.verdict == NOT_RUN
    assert finding.ours.endswith("; times beside other work do not count") == (keys != SIMILAR)


def test_a_finding_names_its_panels_and_records(check):
    others = [run(panel=("dna", "tpe", "asha")), run(selector="rs2")]
    finding = check([*contest((4, 0.5), (4, 1), (3, 2), seeds=1), *others], **COVERS, **BOTH)
    assert (finding.panels, finding.of) == ((HYPERBAND,), 2)
    names = ["craig-0.1", "full-1", "gradmatch-0.1", "random-0.1"]
    assert [record.split("/")[2] for record in finding.records] == names


def test_the_introductions_arithmetic():
    hours = 1000 * 6
    kilograms = [hours * 0.25 * grams / 1000 for grams in (432, 920)]  # of 250 W
    miles = [mass / 0.4 for mass in kilograms]  # a car's 400 g each
    words = "{} h; {:.0f} to {:.0f} kg CO2e; {:.0f} to {:.0f} miles"
    shipped = parsed(ClaimsFile, read(SHIPPED / "claims.yaml")).claims
    assert shipped["footprint"].ours == words.format(hours, *kilograms, *miles)
    assert [hours, *kilograms, *miles] == pytest.approx([6000, 640, 1400, 1600, 3500], rel=0.05)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"shape": "tale"}, 'shape: "tale" is not valid; valid: reaches, .*, stated'),
        ({**FALLS, "threshold": 4}, "threshold: unknown key; valid: quote, .*subject"),
    ],
)
def test_a_mistake_in_a_claim_is_named_in_one_line(check, keys, message):
    with pytest.raises(UserError, match=rf"^claims\.yaml: claims\.mine\.{message}$"):
        check([], **keys)
