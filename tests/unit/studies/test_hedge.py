"""The statistics of the study against other tests and loops, and the result in docs/study.md."""

import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from studies.hedge import result, searches

DOCS = Path("docs/study.md").absolute()


@pytest.fixture(scope="module")
def panels():
    return [*map(searches.read, searches.PANELS)]


def test_the_exact_bound_is_where_so_few_losses_have_5_percent():
    for lost in (0, 3):
        assert stats.binom.cdf(lost, 24, result.most_likely(lost, 24)) == pytest.approx(0.05)
    assert result.most_likely(24, 24) == 1


def test_the_bound_is_below_what_students_t_test_rejects():
    values = np.random.default_rng(0).normal(0.8, 0.4, 24)
    bound = result.bound(values)
    error = values.std(ddof=1) / math.sqrt(24)
    assert stats.t.cdf((values.mean() - bound) / error, 23) == pytest.approx(0.05)
    assert result.bound(np.full(24, 0.5)) == 0.5


def test_the_mean_of_panels_has_welchs_degrees_of_freedom():
    one, two = np.array([0.0, 1, 2]), np.array([0.0, 0.5, 0.5, 1])
    bound = result.bound_of_panels([one, two])
    # Half the sum of two means against x is Welch's test of the first against 2 x less the second.
    test = stats.ttest_ind(one, 2 * bound - two, equal_var=False, alternative="less")
    assert test.pvalue == pytest.approx(0.05)


def test_the_interval_is_that_of_a_loop_over_resamples(monkeypatch):
    monkeypatch.setattr(result, "RESAMPLES", 20)
    losses = np.random.default_rng(1).integers(-1, 2, (4, 9)).astype(float)
    generator, means = np.random.default_rng(0), []
    for _ in range(20):
        chosen, rows = generator.integers(0, 4, 4), generator.integers(0, 9, 9)
        means.append(100 * sum(losses[s, r] for s, r in product(chosen, rows)) / 36)
    assert result.interval(losses) == pytest.approx(np.percentile(means, (2.5, 97.5)))


def test_losses_are_those_of_the_counts_of_right_rows(panels):
    """The lines count the right rows of each trial; the losses come from the single rows."""
    for panel in panels:
        for number in searches.searches(27):
            line = panel.lines[27, number]
            one, two = (line["methods"][it]["trial"] for it in ("full", "u6"))
            lost = line["test_right"][one] - line["fresh_test_right"][str(two)]
            points = 100 * lost / line["test_rows"]
            assert panel.points("u6", 27)[number] == pytest.approx(points)


def test_a_candidate_fails_where_a_bound_is_a_point_or_more(panels):
    passed, words = result.tested(panels, "one-epoch", 27)
    assert not passed
    assert words == "fails: the bound is 1 point or more on fashion-convnet."


@pytest.mark.slow
def test_the_verdict_is_the_published_one_and_its_tests_are_in_the_docs(panels):
    verdict = (searches.RESULTS / "verdict.md").read_text(encoding="utf-8").strip()
    assert verdict == "\n".join(result.verdict(panels)).strip()
    tested = verdict.partition("\n\n**hedge, 243")[0]
    overview = verdict[verdict.index("**Mean loss") :]
    text = DOCS.read_text(encoding="utf-8").partition("<!-- tested -->\n")[2]
    assert text.partition("\n\n<!-- end -->")[0] == f"{tested}\n\n{overview}"
