"""The result of the study, on made-up searches: nobody looks at the real ones before all are done.

Statistics are compared with other tests, with loops and by hand.
"""

import gzip
import json
import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from benchmarks.study import result, searches

PANELS = ("optdigits", "penbased", "magic", "fashion-mlp", "fashion-convnet")
ROWS = 400
METHODS = ("random", "full", "asha", "one-epoch", "rs2", "u6", "u7", "s3")
FRESH = ("u6", "u7", "s3")
"""Their choices are fresh trainings."""


def write_study(folder, lost=None, no_gain=()):
    """Write random searches; return the test rows that the choices get right.

    A fresh training loses one row or two against FULL, or `lost[panel, method, size]` rows. In the
    panels `no_gain` FULL is no better than other configurations.
    """
    random, lost, right = np.random.default_rng(0), lost or {}, {}
    (folder / "rows").mkdir(parents=True)
    for panel in PANELS:
        lines, members = [], []
        for size, count in ((27, 24), (81, 8), (243, 2)):
            for number in range(count):
                if size == 27:
                    members.append(random.random((27, ROWS)) < 0.7)
                    members[-1][5] |= (panel not in no_gain) & (random.random(ROWS) < 0.7)
                few = size // 27
                tried = np.concatenate(members[few * number : few * (number + 1)])
                full = 27 * int(random.integers(few)) + 5
                trials = {method: int(random.integers(size)) for method in METHODS}
                trials |= {"full": full, **{it: full - 3 + FRESH.index(it) for it in FRESH}}
                fresh = {}
                for method in FRESH:
                    worse = lost.get((panel, method, size), random.integers(1, 3))
                    made = fresh[trials[method]] = tried[full].copy()
                    made[random.permutation(np.flatnonzero(made))[:worse]] = False
                for method, trial in trials.items():
                    made = fresh[trial] if method in FRESH else tried[trial]
                    right[panel, size, number, method] = made
                line = {
                    "size": size,
                    "number": number,
                    "commit": "made",
                    "test_rows": ROWS,
                    "methods": {
                        method: {
                            "trial": trial,
                            "fresh": method in FRESH,
                            "samples": int(random.integers(100, 1000)),
                            "cpu_seconds": float(random.integers(10, 100)),
                        }
                        for method, trial in trials.items()
                    },
                    "fresh_test_right": {str(it): int(fresh[it].sum()) for it in sorted(fresh)},
                }
                bits = {"fresh": np.packbits([fresh[it] for it in sorted(fresh)], axis=1)}
                if size == 27:
                    line["test_right"] = tried.sum(axis=1).tolist()
                    bits["full"] = np.packbits(tried, axis=1)
                lines.append(json.dumps(line))
                np.savez(folder / f"rows/{panel}-{size}-{number}.npz", **bits)
        (folder / f"{panel}.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return right


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Return made-up searches, and the test rows that their choices get right."""
    folder = tmp_path_factory.mktemp("study") / "made"
    right = write_study(folder)
    return folder, searches.complete(folder), right


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr(result, "RESAMPLES", 20)


def printed(monkeypatch, capsys, folder, *arguments):
    options = ["--results", str(folder), "--figure", str(folder / "growth.png")]
    monkeypatch.setattr("sys.argv", ["result", *arguments, *options])
    result.main()
    return capsys.readouterr().out


def lines_of(folder, panel):
    content = gzip.decompress((folder / f"{panel}.jsonl.gz").read_bytes())
    return [json.loads(line) for line in content.splitlines()]


def lost_rows(right, panel, size, number, method, other="full"):
    """Return how many test rows fewer the choice of `method` gets right than that of `other`."""
    one, two = (int(right[panel, size, number, it].sum()) for it in (method, other))
    return two - one


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


def test_the_interval_is_that_of_a_loop_over_resamples():
    losses = np.random.default_rng(1).integers(-1, 2, (4, 9)).astype(float)
    generator, means = np.random.default_rng(0), []
    for _ in range(20):
        chosen, rows = generator.integers(0, 4, 4), generator.integers(0, 9, 9)
        means.append(100 * sum(losses[s, r] for s, r in product(chosen, rows)) / 36)
    assert result.interval(losses) == pytest.approx(np.percentile(means, (2.5, 97.5)))


def test_a_row_has_the_numbers_of_one_panel(study):
    folder, panels, right = study
    (row,) = [result.row_of(it, "rs2", 81, "u6") for it in panels if it.name == "magic"]
    methods = [line["methods"] for line in lines_of(folder, "magic") if line["size"] == 81]
    lost = [100 / ROWS * lost_rows(right, "magic", 81, it, "rs2", "u6") for it in range(8)]
    assert row["mean loss"] == f"{np.mean(lost):.2f}"
    assert row["largest loss"] == f"{max(lost):.2f}"
    assert row["above 2 points"] == f"{sum(it > 2 for it in lost)} of 8"
    for column, by in (("by samples", "samples"), ("by CPU time", "cpu_seconds")):
        speedup = sum(it["u6"][by] for it in methods) / sum(it["rs2"][by] for it in methods)
        assert row[column] == f"{speedup:.1f}x"


def test_the_number_of_the_drop_rule_is_printed_alone(study, monkeypatch, capsys):
    folder, _, _ = study
    lines = [line for line in lines_of(folder, "penbased") if line["size"] == 27]
    full = np.mean([line["test_right"][line["methods"]["full"]["trial"]] for line in lines])
    expected = 100 * (full - np.mean([line["test_right"] for line in lines])) / ROWS
    out = printed(monkeypatch, capsys, folder, "drop", "penbased")
    assert float(out) == pytest.approx(expected)


def test_nothing_is_printed_before_all_searches_are_there(tmp_path, monkeypatch, capsys):
    write_study(tmp_path / "made")
    (tmp_path / "made/rows/penbased-81-2.npz").unlink()
    (tmp_path / "made/magic.jsonl.gz").unlink()
    missing = "missing searches: penbased 1 of 34, magic 34 of 34; nobody looks before all are done"
    for arguments in (["drop", "optdigits"], ["verdict"]):
        with pytest.raises(SystemExit, match=f"^{missing}$"):
            printed(monkeypatch, capsys, tmp_path / "made", *arguments)
    assert capsys.readouterr().out == ""


def test_searches_of_several_commits_are_refused(tmp_path):
    write_study(tmp_path / "made")
    path = tmp_path / "made/magic.jsonl.gz"
    other = gzip.decompress(path.read_bytes()).replace(b'"made"', b'"other"', 1)
    path.write_bytes(gzip.compress(other))
    with pytest.raises(SystemExit, match="the searches are of several commits"):
        searches.complete(tmp_path / "made")


@pytest.mark.parametrize(
    ("fails", "verdicts"),
    [
        (None, ["passes", "passes", "passes"]),
        (("magic", "u6", 27), ["fails", "is not tested", "is not tested"]),
        (("penbased", "u6", 81), ["passes", "fails", "is not tested"]),
        (("optdigits", "u7", 27), ["passes", "passes", "fails"]),
    ],
)
def test_candidates_are_tested_in_order_until_one_fails(tmp_path, fails, verdicts):
    write_study(tmp_path / "made", lost=fails and {fails: 6})
    lines = [*result.verdict(searches.complete(tmp_path / "made"))]
    titles = [line for line in lines if line.startswith("**")]
    candidates = "hedge, 27 configurations", "hedge, 81 configurations", "faster hedge, 27"
    for title, candidate, verdict in zip(titles, candidates, verdicts, strict=False):
        assert title.startswith(f"**{candidate}")
        assert f"** {verdict}" in title
        assert ("on " + fails[0] in title) == (verdict == "fails") if fails else True
    assert all("is reported, not tested" in title for title in titles[3:-1])


def test_panels_without_a_gain_are_dropped_and_named(tmp_path, monkeypatch, capsys):
    write_study(tmp_path / "one", no_gain={"magic"})
    out = printed(monkeypatch, capsys, tmp_path / "one", "verdict")
    first, *rest = out.splitlines()
    assert first == "Dropped panels: magic."
    assert "magic" not in "\n".join(rest)
    assert (tmp_path / "one/growth.png").stat().st_size > 10_000
    write_study(tmp_path / "two", no_gain={"magic", "penbased"})
    with pytest.raises(SystemExit, match="fewer than four panels remain"):
        printed(monkeypatch, capsys, tmp_path / "two", "verdict")
