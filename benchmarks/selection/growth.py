"""How the solvers' cost grows with the mini-batches and with the budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from matplotlib.figure import Figure

from automata.figures.style import COLUMN_INCHES, style
from automata.selection.facility import facility_location
from benchmarks.report import Row
from benchmarks.selection.inputs import head_gradients, similarities
from benchmarks.selection.references import apricot
from benchmarks.selection.solvers import OURS, matching_contenders
from benchmarks.timing import interleaved

MINI_BATCHES = (250, 500, 1000, 2000, 4000)
SHARE = 0.1
BUDGETS = (22, 45, 112, 225, 450, 675)
BUDGETS_OF = 2250

MARKERS = "osD^vPX*<>"
LEFT_OUT = "scikit-learn Gram, float32"


def growth_rows(
    mini_batches: Sequence[int], budgets: Sequence[int], budgets_of: int, rounds: int
) -> Iterator[Row]:
    """Yield seconds of each solver over n at a fixed share, then over the budget at a fixed n."""
    for n in mini_batches:
        yield from _rows("n", n, [round(SHARE * n)], rounds)
    yield from _rows("budget", budgets_of, budgets, rounds)


def figure(rows: Sequence[Row]) -> Figure:
    """Return seconds against n and against the budget, on logarithmic axes."""
    with style():
        sheet = Figure(figsize=(2 * COLUMN_INCHES, 2.8), layout="constrained")
        axes = sheet.subplots(1, 2, sharey=True)
        for axis, grows in zip(axes, ("n", "budget"), strict=True):
            some = [row for row in rows if row["grows"] == grows]
            for solver, marker in zip(
                dict.fromkeys(row["solver"] for row in some), MARKERS, strict=False
            ):
                own = [row for row in some if row["solver"] == solver]
                x, y = ([row[key] for row in own] for key in (grows, "seconds"))
                axis.plot(x, y, marker=marker, markersize=3, label=solver)
            axis.set(xscale="log", yscale="log", ylabel="seconds")
            ticks = sorted({int(str(row[grows])) for row in some})
            axis.set_xticks(ticks, [str(tick) for tick in ticks])
            axis.minorticks_off()
        axes[0].set(xlabel=f"mini-batches n, of which {SHARE:.0%} are chosen")
        axes[1].set(xlabel=f"budget, of {some[0]['n']} mini-batches")
        handles, labels = axes[0].get_legend_handles_labels()
        sheet.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    return sheet


def _rows(grows: str, n: int, budgets: Sequence[int], rounds: int) -> Iterator[Row]:
    gradients = head_gradients(n)
    similarity = similarities(gradients)
    target = gradients.mean(dim=0)
    for budget in budgets:
        matching = matching_contenders(gradients, target, budget)
        contenders = {
            f"matching pursuit: {name}": run for name, run in matching.items() if name != LEFT_OUT
        }
        contenders[f"facility location: {OURS}"] = lambda k=budget: facility_location(similarity, k)
        contenders["facility location: apricot-select"] = lambda k=budget: apricot(
            similarity.numpy(), k, []
        )
        for name, seconds in interleaved(contenders, rounds).items():
            yield {
                "grows": grows,
                "n": n,
                "budget": budget,
                "solver": name,
                "seconds": median(seconds),
            }
