"""The arithmetic of the registered study, by hand and by brute force."""

import gzip
import json
import math
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from benchmarks.study import files, panels, result, run
from benchmarks.study.choices import (
    Point,
    all_rungs,
    choices,
    halved,
    lowest_three,
    search,
    share,
)


@pytest.mark.parametrize(
    ("epochs", "divisor", "expected"), [(10, 4, 3), (20, 50, 1), (20, 3, 7), (100, 3, 33)]
)
def test_a_share_of_the_epochs_is_rounded_half_up_and_is_at_least_one(epochs, divisor, expected):
    assert share(epochs, divisor) == expected


def test_rungs_of_the_largest_search_are_recorded():
    assert {1, 3, 9, 27, 81} <= set(all_rungs(100))  # brackets that 27 configurations do not open
    assert {2, 10, 25, 33, 50, 100} <= set(all_rungs(100))


def test_later_trials_win_ties_at_a_rung_and_the_earlier_one_wins_the_search():
    # T = 9: three trials train to the end, five halve at 3, where two go on.
    scores = [{1: 0, 3: 5, 9: 7} for _ in range(8)]
    best, evaluated = search("hyperband", scores)
    assert best == 0
    assert [t for t, rungs in evaluated.items() if rungs[-1] == 9] == [0, 1, 2, 6, 7]


def test_the_three_lowest_losses_leave_out_divergence_and_prefer_earlier_trials():
    losses = [0.5, None, 0.2, 0.5, 0.9, 0.5]
    curves = [{9: Point(1, loss, 9, 1.0, 0.1)} for loss in losses]
    assert lowest_three(curves, {trial: [9] for trial in range(6)}) == [2, 0, 3]
    assert lowest_three(curves[:2], {0: [9], 1: [9]}) == [0]


def test_halving_keeps_the_best_in_the_order_of_the_list():
    right = {(4, 1): 5, (2, 1): 7, (7, 1): 5, (0, 1): 5, (4, 3): 1, (2, 3): 1}
    left, evaluated = halved(lambda *at: right[at], [4, 2, 7, 0], [(1, 2), (3, 1)])
    assert left == [4]  # of 4, 7 and 0 the first of the list, then before 2
    assert evaluated == {4: [1, 3], 2: [1, 3], 7: [1], 0: [1]}


def made_curves(rights, samples, losses):
    rungs = all_rungs(9)
    return [
        {e: Point(right, loss, samples * e, e / 10, 1.0) for e in rungs}
        for right, loss in zip(rights, losses, strict=True)
    ]


def test_what_every_method_takes_is_as_counted_by_hand():
    # T = 9 and three trials: Hyperband has one bracket without halving.
    full = made_curves([10, 30, 20], 100, [0.1] * 3)
    screens = {0.0: made_curves([9, 8, 7], 1, [3, 2, 1]), 0.5: made_curves([7, 8, 9], 1, [1, 2, 3])}
    fresh = made_curves([1, 2, 3], 100, [0.1] * 3)
    found = choices(full, screens, lambda trial, epoch: fresh[trial])
    picked = {name: (choice.trial, choice.fresh) for name, choice in found.items()}
    assert picked == {
        "random": (0, False),
        "full": (1, False),
        "asha": (1, False),
        "one-epoch": (1, False),
        "rs2": (0, False),
        "u6": (2, True),
        "u7": (2, True),
        "s3": (2, True),
    }
    samples = {name: choice.samples for name, choice in found.items()}
    assert samples["random"] == 900
    assert samples["full"] == 3 * 900
    assert samples["one-epoch"] == 200 + 400 + 900  # its rungs are 1, 2, 4 and 9
    assert samples["rs2"] == 3 * 9 + 900
    assert samples["u6"] == 2 * 3 * 9 + 300 + 900 + 900
    assert samples["u7"] == 2 * 3 * 9 + 200 + 500 + 900
    assert samples["s3"] == 3 * 900
    # CPU: e / 10 to epoch e, and one second an evaluation: six screens, each looked at once.
    assert found["full"].cpu_seconds == pytest.approx(3 * 0.9 + 3)
    assert found["u6"].cpu_seconds == pytest.approx(6 * 1.9 + (0.3 + 2) + 2 * (0.9 + 3))
    assert found["u7"].cpu_seconds == pytest.approx(6 * 1.9 + (0.2 + 2) + (0.5 + 3) + (0.9 + 3))


def test_the_exact_bound_is_where_so_few_losses_have_5_percent():
    for lost in (0, 3):
        bound = result.most_likely(lost, 24)
        few = sum(math.comb(24, k) * bound**k * (1 - bound) ** (24 - k) for k in range(lost + 1))
        assert few == pytest.approx(0.05)
    assert result.most_likely(24, 24) == 1


def test_p_is_that_of_students_t():
    values = np.array([0.1, 0.4, 0.2, 0.9])
    t = (values.mean() - 1) / (values.std(ddof=1) / 2)
    assert result.p_below(values, 1) == pytest.approx(stats.t.cdf(t, 3))
    assert result.p_below(np.zeros(5), 1) == 0
    assert result.p_below(np.ones(5), 1) == 1


def test_the_mean_of_panels_has_welchs_degrees_of_freedom():
    one, two = np.array([0.0, 1, 2]), np.array([0.0, 0.5, 0.5, 1])
    mean, p = result.p_of_means([one, two], 0.5)
    # Half the sum of two means against 0.5 is Welch's test of the first against 1 less the second.
    assert mean == 0.75
    assert p == pytest.approx(stats.ttest_ind(one, 1 - two, equal_var=False, alternative="less")[1])


def test_the_interval_is_that_of_a_loop_over_resamples(monkeypatch):
    monkeypatch.setattr(result, "RESAMPLES", 200)
    differences = np.random.default_rng(1).integers(-1, 2, (4, 9)).astype(np.int8)
    generator, means = np.random.default_rng(0), []
    for _ in range(200):
        searches, rows = generator.integers(0, 4, 4), generator.integers(0, 9, 9)
        pairs = [int(differences[s, r]) for s, r in product(searches, rows)]
        means.append(100 * sum(pairs) / 36)
    assert result.interval(differences) == pytest.approx(np.percentile(means, (2.5, 97.5)))


def test_rows_are_divided_as_registered():
    parts = files.split(10, (5, 3, 2))
    order = np.random.default_rng(0).permutation(10)
    assert [part.tolist() for part in parts] == [
        order[:5].tolist(),
        order[5:8].tolist(),
        order[8:].tolist(),
    ]


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """Run three searches of a panel of noise, and the larger one that they make."""
    folder = tmp_path_factory.mktemp("study")
    generator = np.random.default_rng(0)
    (folder / "tiny").mkdir()
    for part, rows in zip(("train", "validation", "test"), files.ROWS["tiny"], strict=True):
        labels = generator.integers(0, 3, rows)
        inputs = generator.normal(labels[:, None], 1, (rows, 2)).round(3)
        cells = [f"{a},{b},{label}\n" for (a, b), label in zip(inputs, labels, strict=True)]
        (folder / f"tiny/{part}.csv").write_text("x1,x2,class\n" + "".join(cells))
    run.run_panel(panels.TINY, folder, folder / "out", "abc", searches=3)
    return folder


def test_a_line_agrees_with_its_test_rows(searched):
    lines = result.read(searched / "out", "tiny")
    assert [*lines] == [(27, 0), (27, 1), (27, 2), (81, 0)]
    for size, method in product((27, 81), ("full", "u6", "s3")):
        rows = result.correct(searched / "out", lines, size, method)
        for number in range(len(rows)):
            choice = lines[size, number]["methods"][method]
            member, trial = divmod(choice["trial"], 27)
            whole = lines[27, number * size // 27 + member]["test_right"][trial]
            fresh = lines[size, number]["fresh_test_right"].get(str(choice["trial"]))
            assert rows[number].sum() == (fresh if choice["fresh"] else whole)


def test_a_second_call_trains_what_is_missing_and_finds_the_same(searched):
    path = searched / "out/tiny.jsonl.gz"
    before = path.read_bytes()
    run.run_panel(panels.TINY, searched, searched / "out", "abc", searches=3)
    assert path.read_bytes() == before
    kept = gzip.decompress(before).decode().splitlines()
    path.write_bytes(gzip.compress("\n".join(kept[:3]).encode()))
    run.run_panel(panels.TINY, searched, searched / "out", "abc", searches=3)
    (again,) = [x for (size, _), x in result.read(searched / "out", "tiny").items() if size == 81]
    once = json.loads(kept[3])
    assert again["fresh_test_right"] == once["fresh_test_right"]
    assert again["methods"]["u6"]["trial"] == once["methods"]["u6"]["trial"]


def test_nobody_looks_at_a_panel_that_is_not_complete(searched, monkeypatch):
    for what in ("drop", "panel"):
        arguments = ["result", what, "tiny", "--results", str(searched / "out")]
        monkeypatch.setattr("sys.argv", arguments)
        with pytest.raises(SystemExit, match="tiny: 4 of 34 searches are done"):
            result.main()


def test_the_gain_of_full_is_over_the_mean_of_all_configurations():
    methods = {"full": {"trial": 1}}
    lines = {
        (27, k): {"test_right": [10 + k, 30 + k], "methods": methods, "test_rows": 200}
        for k in range(2)
    }
    assert result.gain(lines | {(81, 0): SimpleNamespace()}) == 5
