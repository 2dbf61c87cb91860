"""Print the result of the study of docs/study.md: the tests, and what is only reported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats

from automata import names
from automata.analysis.tables import markdown
from automata.figures.style import FAINTER, add_legend, add_note, axes_of, save, style
from studies.curves.figures import NAMED
from studies.curves.readers import ASHA
from studies.hedge.searches import PANELS, SIZES, Floats, Panel, read

NAMES = {
    "u6": names.HEDGE,
    "u7": "faster hedge",
    "s3": names.PLAIN_HALVING,
    "asha": ASHA,
    "one-epoch": names.ONE_EPOCH,
    "rs2": names.method("rs2", 0.01),
    "random": "random choice",
}
CANDIDATES = (("u6", 27), ("u6", 81), ("u7", 27))
"""Tested in this order, each only if the one before passes."""
REPORTED = (
    ("u6", 243, "full"),
    ("u6", 27, "s3"),
    *((method, 27, "full") for method in ("s3", "asha", "one-epoch", "rs2", "random")),
)
"""Reported and not tested: the losses of a method against those of another."""
GROWING = ("u6", "s3", "asha", "one-epoch")
"""Methods that are compared in searches of all sizes."""
MOST, MOST_ON_AVERAGE, MUCH = 1.0, 0.5, 2
"""Points: what a panel's mean and the mean of all are tested against, and a large loss."""
RESAMPLES = 10_000
FIGURE = Path("docs/figures/study.png")


def bound(values: Floats) -> float:
    """Return the upper end of the one-sided 95 % interval of a mean (Student's t).

    The registered t test rejects "the mean is x or more" if this end is below x.
    """
    if np.ptp(values) == 0:
        return float(values[0])
    return float(stats.ttest_1samp(values, 0, alternative="less").confidence_interval(0.95).high)


def bound_of_panels(panels: Sequence[Floats]) -> float:
    """Return the same for the mean of the panels' means.

    Its error comes from the variances within panels, with Welch's degrees of freedom.
    """
    squares = np.array([stats.sem(values) ** 2 for values in panels])
    freedom = squares.sum() ** 2 / sum(squares**2 / [len(values) - 1 for values in panels])
    mean = np.mean([values.mean() for values in panels])
    return float(mean + np.sqrt(squares.sum()) / len(panels) * stats.t.ppf(0.95, freedom))


def most_likely(lost: int, searches: int) -> float:
    """Return the exact one-sided 95 % bound of a chance (Clopper and Pearson, 1934)."""
    return 1.0 if lost == searches else float(stats.beta.ppf(0.95, lost + 1, searches - lost))


def interval(losses: Floats) -> tuple[float, float]:
    """Return the 95 % interval in points of a mean loss (searches, rows), both resampled."""
    generator = np.random.default_rng(0)
    searches, rows = losses.shape
    means = np.empty(RESAMPLES)
    for place in range(RESAMPLES):
        of = np.bincount(generator.integers(0, searches, searches), minlength=searches)
        which = np.bincount(generator.integers(0, rows, rows), minlength=rows)
        means[place] = 100 * (of @ losses @ which) / (searches * rows)
    low, high = np.percentile(means, (2.5, 97.5))
    return float(low), float(high)


def row_of(panel: Panel, method: str, size: int, other: str) -> dict[str, str]:
    """Return a row of a table: what a method loses against `other`, and its speedup."""
    points = panel.points(method, size, other)
    low, high = interval(panel.losses(method, size, other))
    lost = int((points > MUCH).sum())
    return {
        "panel": panel.name,
        "mean loss": f"{points.mean():.2f}",
        "bound": f"{bound(points):.3f}",
        "95 %": f"{low:.2f} to {high:.2f}",
        "largest loss": f"{points.max():.2f}",
        f"above {MUCH} points": f"{lost} of {len(points)}",
        "their chance, at most": f"{100 * most_likely(lost, len(points)):.0f} %",
        "by samples": f"{panel.speedup(method, size, other):.1f}x",
        "by CPU time": f"{panel.speedup(method, size, other, by='cpu_seconds'):.1f}x",
    }


def table(
    panels: Sequence[Panel], words: str, method: str, size: int, other: str = "full"
) -> Iterator[str]:
    """Yield the lines of a table under a line with `words` about the method."""
    against = "" if other == "full" else f" against {NAMES[other]}"
    yield from ("", f"**{NAMES[method]}, {size} configurations{against}** {words}", "")
    rows = [row_of(panel, method, size, other) for panel in panels]
    yield from markdown(pd.DataFrame(rows)).splitlines()


def tested(panels: Sequence[Panel], method: str, size: int) -> tuple[bool, str]:
    """Return whether a candidate passes, and its verdict in words."""
    points = {panel.name: panel.points(method, size) for panel in panels}
    failed = [name for name, values in points.items() if bound(values) >= MOST]
    if failed:
        return False, f"fails: the bound is {MOST:g} point or more on {', '.join(failed)}."
    means = np.mean([*points.values()], axis=0)  # of a search: panels share its draws
    highest = bound_of_panels([*points.values()])
    below = "below" if highest < MOST_ON_AVERAGE else "not below"
    return True, (
        f"passes. The mean of the panels' means is {means.mean():.2f}; its bound {highest:.3f} is "
        f"{below} {MOST_ON_AVERAGE:g}. Over searches, means of their panels, it is "
        f"{bound(means):.3f}."
    )


def verdict(panels: Sequence[Panel]) -> Iterator[str]:
    """Yield the lines of the tests in their order, and of the tables that are only reported."""
    passes = True
    for method, size in CANDIDATES:
        words = "is not tested, because the candidate before fails."
        if passes:
            passes, words = tested(panels, method, size)
        yield from table(panels, words, method, size)
    for reported in REPORTED:
        yield from table(panels, "is reported, not tested.", *reported)
    yield from ("", "**Mean loss and speedup by samples**", "")
    rows = [_growth_of(panels, *it) for it in product(GROWING, SIZES)]
    yield from markdown(pd.DataFrame(rows)).splitlines()


def _growth_of(panels: Sequence[Panel], method: str, size: int) -> dict[str, str]:
    row = {"method": NAMES[method], "configurations": str(size)}
    for panel in panels:
        loss = panel.points(method, size).mean()
        row[panel.name] = f"{loss:.2f} at {panel.speedup(method, size):.1f}x"
    return row


def growth(panels: Sequence[Panel]) -> Figure:
    """Return a figure of losses and speedups against the number of configurations."""
    with style():
        figure, grid = axes_of(2, len(panels), 3.2, sharex=True, sharey="row")
        for panel, (upper, lower) in zip(panels, grid.T, strict=True):
            for method, line in zip(GROWING, ("-", "--", ":", "-."), strict=True):
                look = {"label": NAMES[method], **NAMED[NAMES[method]], "linestyle": line}
                upper.plot(SIZES, [panel.points(method, it).mean() for it in SIZES], **look)
                lower.plot(SIZES, [panel.speedup(method, it) for it in SIZES], **look)
            upper.set_title(panel.name)
            upper.axhline(0, color=FAINTER, linewidth=0.6)
            lower.set_xscale("log")
            lower.set_xticks(SIZES, [str(size) for size in SIZES])
            lower.minorticks_off()
        grid[0, 0].set_ylabel("Mean loss (points)")
        grid[1, 0].set_ylabel("Speedup, by samples")
        figure.supxlabel("Configurations of a search", fontsize="medium")
        add_legend(figure, lower.lines)
        add_note(figure, ["Means over 24, 8 and 2 searches, against FULL under Hyperband."])
        return figure


def main() -> None:
    """Print the result, and draw its figure."""
    panels = [read(name) for name in PANELS]
    remaining = [panel for panel in panels if panel.gain >= MOST]
    dropped = [panel.name for panel in panels if panel not in remaining]
    print(f"Dropped panels: {', '.join(dropped) or 'none'}.")
    print(*verdict(remaining), sep="\n")
    save(growth(remaining), FIGURE)


if __name__ == "__main__":
    main()
