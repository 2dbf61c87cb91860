"""Print the results of the study, from its published lines.

python -m benchmarks.study.result drop optdigits     # the number of the drop rule
python -m benchmarks.study.result panel optdigits    # a panel, once all its searches are done
python -m benchmarks.study.result verdict            # the tests, once all panels are done
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

RESULTS = Path("results/reference/study")
PANELS = ("optdigits", "penbased", "magic", "fashion-mlp", "fashion-convnet")
CONFIGURATIONS, SEARCHES = 27, 24
LARGER = (81, 243)
"""Configurations of larger searches."""
CANDIDATES = (("u6", 27), ("u6", 81), ("u7", 27))
"""Tested in this order, each only if the one before passes."""
MOST, MOST_ON_AVERAGE, MUCH = 1.0, 0.5, 2
"""Points: what a panel's mean and the mean of all are tested against, and a large loss."""
RESAMPLES = 10_000

Lines = dict[tuple[int, int], dict[str, Any]]
"""Lines of a panel by size and number of the search."""


def read(results: Path, panel: str) -> Lines:
    """Return the lines of a panel."""
    path = results / f"{panel}.jsonl.gz"
    text = gzip.decompress(path.read_bytes()).decode() if path.exists() else ""
    lines = map(json.loads, text.splitlines())
    return {(line["size"], line["number"]): line for line in lines}


def complete(results: Path, panel: str) -> Lines:
    """Return the lines of a panel, which must have all its searches, of one commit."""
    lines = read(results, panel)
    wanted = {
        (size, number)
        for size in (CONFIGURATIONS, *LARGER)
        for number in range(SEARCHES * CONFIGURATIONS // size)
    }
    if missing := wanted - lines.keys():
        done = len(wanted) - len(missing)
        sys.exit(f"{panel}: {done} of {len(wanted)} searches are done, nobody looks before")
    if len({line["commit"] for line in lines.values()}) > 1:
        sys.exit(f"{panel}: its searches are of several commits")
    return lines


def gain(lines: Lines) -> float:
    """Return by how many points FULL is better than the mean of all configurations."""
    whole = [line for (size, _), line in lines.items() if size == CONFIGURATIONS]
    full = np.mean([line["test_right"][line["methods"]["full"]["trial"]] for line in whole])
    every = np.mean([line["test_right"] for line in whole])
    return float(100 * (full - every) / whole[0]["test_rows"])


def correct(results: Path, lines: Lines, size: int, method: str) -> NDArray[np.bool_]:
    """Return whether the choice of a method is right on each test row: (searches, rows)."""
    found = []
    for number in sorted(number for of, number in lines if of == size):
        line = lines[size, number]
        choice, count = line["methods"][method], size // CONFIGURATIONS
        name, place = f"{size}-{number}", choice["trial"]
        if choice["fresh"]:
            place = sorted(map(int, line["fresh_test_right"])).index(place)
        else:
            member, place = divmod(place, CONFIGURATIONS)
            name = f"{CONFIGURATIONS}-{number * count + member}"
        with np.load(results / f"rows/{line['panel']}-{name}.npz") as rows:
            bits = rows["fresh" if choice["fresh"] else "full"][place]
        found.append(np.unpackbits(bits, count=line["test_rows"]).astype(bool))
    return np.stack(found)


def p_below(values: NDArray[np.float64], bound: float) -> float:
    """Return the one-sided p of the hypothesis that the mean is `bound` or more (Student's t)."""
    if np.ptp(values) == 0:
        return float(values[0] >= bound)
    return float(stats.ttest_1samp(values, bound, alternative="less").pvalue)


def p_of_means(panels: Iterable[NDArray[np.float64]], bound: float) -> tuple[float, float]:
    """Return the mean of the panels' means, and the p that it is `bound` or more.

    The standard error comes from the variances within panels, with Welch's degrees of freedom.
    """
    panels = list(panels)
    mean = float(np.mean([values.mean() for values in panels]))
    parts = np.array([values.var(ddof=1) / len(values) for values in panels])
    error = np.sqrt(parts.sum()) / len(panels)
    freedom = parts.sum() ** 2 / sum(
        part**2 / (len(values) - 1) for part, values in zip(parts, panels, strict=True)
    )
    return mean, float(stats.t.cdf((mean - bound) / error, freedom))


def most_likely(lost: int, searches: int) -> float:
    """Return the exact one-sided 95 % bound of a chance (Clopper and Pearson, 1934)."""
    return 1.0 if lost == searches else float(stats.beta.ppf(0.95, lost + 1, searches - lost))


def interval(differences: NDArray[np.int8]) -> tuple[float, float]:
    """Return the 95 % interval in points of a mean difference (searches, rows), both resampled."""
    generator = np.random.default_rng(0)
    searches, rows = differences.shape
    means = np.empty(RESAMPLES)
    for place in range(RESAMPLES):
        of = np.bincount(generator.integers(0, searches, searches), minlength=searches)
        which = np.bincount(generator.integers(0, rows, rows), minlength=rows)
        means[place] = 100 * (of @ differences @ which) / (searches * rows)
    low, high = np.percentile(means, (2.5, 97.5))
    return float(low), float(high)


def differences(
    results: Path, lines: Lines, size: int, method: str, other: str = "full"
) -> NDArray[np.int8]:
    """Return for each search and test row whether `other` alone is right (1), or `method` (-1)."""
    pair = (correct(results, lines, size, name) for name in (other, method))
    one, two = (rows.astype(np.int8) for rows in pair)
    return one - two


def speedups(lines: Lines, size: int, method: str) -> list[float]:
    """Return how many times FULL's samples, and CPU seconds, a method takes less."""
    of = [line["methods"] for (its, _), line in lines.items() if its == size]
    keys = ("samples", "cpu_seconds")
    return [sum(m["full"][k] for m in of) / sum(m[method][k] for m in of) for k in keys]


def print_panel(results: Path, panel: str) -> None:
    """Print a table of all methods, and the difference of U6 and S3."""
    lines = complete(results, panel)
    print(f"{panel}: FULL is {gain(lines):.2f} points better than a random configuration")
    print("size method      loss  (95 %)            p(>=1)  lost >2   bound  samples  CPU time")
    for size in (CONFIGURATIONS, *LARGER):
        for method in lines[size, 0]["methods"]:
            rows = differences(results, lines, size, method)
            counts = rows.sum(axis=1, dtype=np.int64)
            low, high = interval(rows)
            lost = int((100 * counts > MUCH * rows.shape[1]).sum())
            p = p_below(100 * counts / rows.shape[1], MOST)
            of, by = speedups(lines, size, method)
            print(
                f"{size:4} {method:10} {100 * counts.mean() / rows.shape[1]:5.2f}  "
                f"({low:5.2f} to {high:5.2f})   {p:6.4f}  {lost:2} of {len(rows):2}  "
                f"{most_likely(lost, len(rows)):5.3f}  {of:6.2f}x  {by:6.2f}x"
            )
        rows = differences(results, lines, size, "u6", "s3")
        low, high = interval(rows)
        print(f"{size:4} u6 - s3    {100 * rows.mean():5.2f}  ({low:5.2f} to {high:5.2f})")


def print_verdict(results: Path) -> None:
    """Print the tests of all candidates, in their order, until one fails."""
    found = {panel: complete(results, panel) for panel in PANELS}
    remaining = {panel: lines for panel, lines in found.items() if gain(lines) >= MOST}
    print("dropped:", ", ".join(panel for panel in found if panel not in remaining) or "none")
    if len(remaining) < 4:
        sys.exit("fewer than four panels remain: the study decides nothing")
    for method, size in CANDIDATES:
        points = {}
        for panel, lines in remaining.items():
            rows = differences(results, lines, size, method)
            points[panel] = 100 * rows.sum(axis=1, dtype=np.int64) / rows.shape[1]
        tests = {panel: p_below(values, MOST) for panel, values in points.items()}
        passes = all(p <= 0.05 for p in tests.values())
        print(f"{method} of {size}: {'passes' if passes else 'fails'}")
        for panel, p in tests.items():
            print(f"  {panel}: mean {points[panel].mean():.2f}, p {p:.4f}")
        if not passes:
            break
        mean, p = p_of_means(points.values(), MOST_ON_AVERAGE)
        print(f"  mean of all {mean:.2f}, p {p:.4f}: {'below' if p <= 0.05 else 'not below'} 0.5")
        across = np.mean([*points.values()], axis=0)  # panels share the draws of a search
        p = p_below(across, MOST_ON_AVERAGE)
        print(f"  p over searches, each the mean of its panels: {p:.4f}")


def main() -> None:
    """Print the requested results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["drop", "panel", "verdict"])
    parser.add_argument("panel", nargs="?", choices=PANELS)
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    if options.what == "verdict":
        print_verdict(options.results)
    elif options.panel is None:
        parser.error("a panel is needed")
    elif options.what == "drop":
        print(gain(complete(options.results, options.panel)))
    else:
        print_panel(options.results, options.panel)


if __name__ == "__main__":
    main()
