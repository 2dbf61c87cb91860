"""The arithmetic of the registered study, by hand and by brute force."""

import gzip
import math
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from benchmarks.study import result

PUBLISHED = Path(__file__).parents[3] / "results/reference/study"


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


def test_a_published_line_agrees_with_its_test_rows():
    lines = result.complete(PUBLISHED, "optdigits")
    for size, method in product((27, 81), ("full", "u6", "s3")):
        rows = result.correct(PUBLISHED, lines, size, method)
        for number in range(len(rows)):
            choice = lines[size, number]["methods"][method]
            member, trial = divmod(choice["trial"], 27)
            whole = lines[27, number * size // 27 + member]["test_right"][trial]
            fresh = lines[size, number]["fresh_test_right"].get(str(choice["trial"]))
            assert rows[number].sum() == (fresh if choice["fresh"] else whole)


def test_nobody_looks_at_a_panel_that_is_not_complete(tmp_path, monkeypatch):
    whole = gzip.decompress((PUBLISHED / "optdigits.jsonl.gz").read_bytes()).splitlines()
    (tmp_path / "optdigits.jsonl.gz").write_bytes(gzip.compress(b"\n".join(whole[:4])))
    for what in ("drop", "panel"):
        arguments = ["result", what, "optdigits", "--results", str(tmp_path)]
        monkeypatch.setattr("sys.argv", arguments)
        with pytest.raises(SystemExit, match="optdigits: 4 of 34 searches are done"):
            result.main()


def test_the_gain_of_full_is_over_the_mean_of_all_configurations():
    methods = {"full": {"trial": 1}}
    lines = {
        (27, k): {"test_right": [10 + k, 30 + k], "methods": methods, "test_rows": 200}
        for k in range(2)
    }
    assert result.gain(lines | {(81, 0): SimpleNamespace()}) == 5
