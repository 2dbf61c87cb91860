"""Small studies and the verdicts on them, computed by hand."""

import pytest
from scipy.stats import spearmanr

from .conftest import ASHA, HYPERBAND, run, runs

YES, NO, NOT_RUN = "reproduced", "not reproduced", "not run"
FIRM, OPEN, FEW = "interval", "within the interval", "too few seeds"
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


STUDIES = [
    # A ratio at a loss: both at one fraction, at the limits, over seeds.
    (REACHES, [run(4.0, 1.0)], YES, FEW),
    (REACHES, [run(3.99, 1.0)], NO, FEW),
    (REACHES, [run(4.0, 1.01)], NO, FEW),
    ({**REACHES, **SIZES}, [run(2.0, 0.0), run(4.0, 1.0, fraction=0.3)], YES, FEW),
    (REACHES, runs([5.0, 5.5, 6.0]), YES, FIRM),
    (REACHES, runs([5.0, 5.5, 6.0], [-2.0, 0.5, 2.5]), YES, OPEN),
    # What was not run may turn the verdict.
    ({**REACHES, **BOTH}, runs([5.0] * 3), YES, NO_PANEL),
    ({**REACHES, **BOTH, "share": 0.5}, runs([5.0] * 3), YES, FIRM),
    ({**REACHES, **SIZES}, runs([5.0] * 3), YES, NO_FRACTION),
    # The area beyond a ratio of 1, below the worst error: here 4.5, 3 and 0.
    (COVERS, contest((4, 0.5), (4, 1), (3, 2)), YES, FIRM),
    (COVERS, contest((4, 1), (2.5, 0), (9, 2)), NO, FIRM),  # 3 and 3
    (COVERS, contest((4, 1), (2.4, 0), (9, 2)), YES, FIRM),  # 3 and 2.8
    (COVERS, contest((2, -1), (4, -0.5), (3, -0.5)), NO, FIRM),  # from FULL's 0: 1 and 1.5
    (  # 9 and 8.7 at 10 %; at 30 % RANDOM gets 1.1 more, AUTOMATA 0.5
        {**COVERS, **SIZES},
        contest((4, 1), (4, 1.1), (2, 4)) + contest((2, 0.5), (2, 0), (2, 4), fraction=0.3),
        *(NO, FIRM),
    ),
    (  # the others have no such seed
        COVERS,
        [*contest((4, 1), (4, 0.5), (3, 2)), run(99.0, -9.0, seed=7)],
        *(NO, FIRM),
    ),
    # Strictly falling, from each fraction to the next.
    ({**FALLS, **SIZES}, sizes([5.0, 5.1, 5.2], [4.0, 4.1, 4.2]), YES, FIRM),
    ({**FALLS, **SIZES}, sizes([5.0, 5.0], [5.0, 5.0]), NO, FEW),
    ({**FALLS, **SIZES}, runs([5.0] * 3), NOT_RUN, ""),
    (
        {**FALLS, **SIZES, "subject": ["gradmatch", "random"]},
        sizes([5.0] * 3, [4.0] * 3) + sizes([2.0] * 3, [3.0] * 3, selector="random"),
        *(NO, FIRM),
    ),
    # Means over pairs of runs.
    (PAIRED, duel([1.0, 1.1, 1.2], [2.0, 2.2, 2.1]), YES, FIRM),
    (PAIRED, duel([1.0, 3.0, 1.0], [2.0, 2.0, 2.5]), YES, OPEN),
    (PAIRED, duel([1.0] * 3, [1.0] * 3), NO, FIRM),
    (PAIRED, [{**row, "refused": "diverged"} for row in duel([1.0], [2.0])], NOT_RUN, ""),
    (SIMILAR, runs([4.0] * 3, energy_ratio=4.9), YES, FIRM),
    (SIMILAR, runs([4.0] * 3, energy_ratio=3.1), NO, FIRM),
    (FASTER, full([20, 22, 24], [10, 11, 12]), YES, FIRM),
    (FASTER, [*full([20], []), *full([], [10], machine="there")], NOT_RUN, ""),
    (LARGER, growing([1, 2, 3, 4, 5, 6]), YES, FIRM),
    (LARGER, growing([2, 4, 1, 3, 5]), NO, OPEN),  # exactly 0.5
    (LARGER, growing([1, 2, 3, 4]), NOT_RUN, ""),
]


@pytest.mark.parametrize(("keys", "rows", "verdict", "firm"), STUDIES)
def test_a_small_study_has_its_verdict(check, keys, rows, verdict, firm):
    finding = check(rows, **keys)
    assert (finding.verdict, finding.firm) == (verdict, firm)


def test_the_correlation_is_scipys(check):
    speedups = [1, 2, 2, 2, 7, 3]
    expected = spearmanr(range(6), speedups).statistic
    assert f"rank correlation {expected:.2f} (" in check(growing(speedups), **LARGER).ours


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
    rows = [*runs([2.0, 4.0]), run(90.0, seed=2, **ESTIMATED)]
    ours = check(rows, **SAVES).ours
    assert ours == "3x at +1 pp, fraction 10 %"


def test_a_finding_names_its_panels_and_records(check):
    others = [run(panel=("dna", "tpe", "asha")), run(selector="rs2")]
    finding = check([*contest((4, 0.5), (4, 1), (3, 2), seeds=1), *others], **COVERS, **BOTH)
    assert (finding.panels, finding.of) == ((HYPERBAND,), 2)
    names = ["craig-0.1", "full-1", "gradmatch-0.1", "random-0.1"]
    assert [record.split("/")[2] for record in finding.records] == names
