"""The solvers beside other implementations: seconds, ratio, objective."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import median

import numpy as np
from torch import Tensor

from automata.selection.facility import facility_location
from automata.selection.matching import matching_pursuit
from benchmarks.report import Row
from benchmarks.selection import references
from benchmarks.selection.inputs import head_gradients, low_rank_gradients, similarities
from benchmarks.timing import Seconds, interleaved, ratio

OURS = "ours"
SIZES = ((250, 25), (2250, 225), (2250, 675), (4000, 400))
"""(mini-batches, budget): paper's B = 20 and 10 or 30 % of 5,000, 45,000 and 80,000 images."""
HARD_SIZES = ((250, 25), (2250, 225))
FACILITY_SIZES = ((250, 25), (2250, 225), (4000, 400))


def matching_rows(
    sizes: Sequence[tuple[int, int]], hard: Sequence[tuple[int, int]], rounds: int
) -> Iterator[Row]:
    """Yield a row per input, size and matching pursuit."""
    for kind, make, some in (
        ("full rank", head_gradients, sizes),
        ("low rank", low_rank_gradients, hard),
    ):
        for n, budget in some:
            yield from compare_matching(kind, make(n), budget, rounds)


def matching_contenders(
    gradients: Tensor, target: Tensor, budget: int
) -> dict[str, Callable[[], references.Choice]]:
    """Return the matching pursuits, ours first; each returns rows and weights."""

    def ours() -> references.Choice:
        chosen, weights = matching_pursuit(gradients, target, budget)
        return chosen.numpy(), weights.numpy()

    sklearn = partial(references.sklearn_gram, gradients, target, budget)
    return {
        OURS: ours,
        "scikit-learn Gram, float64": partial(sklearn, np.float64),
        "scikit-learn Gram, float32": partial(sklearn, np.float32),
        "per-step lstsq, float32": partial(
            references.per_step_least_squares, gradients, target, budget
        ),
    }


def facility_rows(sizes: Sequence[tuple[int, int]], rounds: int) -> Iterator[Row]:
    """Yield a row per size and greedy facility location."""
    for n, budget in sizes:
        similarity = similarities(head_gradients(n))
        yield from compare_facility(similarity, budget, rounds)


def compare_matching(kind: str, gradients: Tensor, budget: int, rounds: int) -> Iterator[Row]:
    """Yield a row per matching pursuit; the target is the mean of `gradients`."""
    target = gradients.mean(dim=0)
    contenders = matching_contenders(gradients, target, budget)
    outcomes: dict[str, references.Choice] = {}
    seconds = interleaved(_keeping(contenders, outcomes), rounds)
    objective = {
        name: references.matching_objective(gradients, target, choice)
        for name, choice in outcomes.items()
    }
    square = float(target.double() @ target.double())
    for name, (support, weights) in outcomes.items():
        yield {
            "input": kind,
            "n": gradients.shape[0],
            "d": gradients.shape[1],
            "budget": budget,
            "solver": name,
            "rows": len(support),
            "negative weights": int((weights < 0).sum()),
            **_times(seconds, name),
            "relative residual": (objective[name] / square) ** 0.5,
            "ours / its objective - 1": objective[OURS] / objective[name] - 1,
        }


def compare_facility(similarity: Tensor, budget: int, rounds: int) -> Iterator[Row]:
    """Yield a row per greedy facility location."""
    array = similarity.numpy()
    compiling: list[float] = []
    contenders: dict[str, Callable[[], np.ndarray]] = {
        OURS: lambda: facility_location(similarity, budget)[0].numpy(),
        "apricot-select": partial(references.apricot, array, budget, compiling),
        "NumPy, every gain": partial(references.plain_greedy, array, budget),
    }
    outcomes: dict[str, np.ndarray] = {}
    seconds = interleaved(_keeping(contenders, outcomes), rounds)
    called = seconds["apricot-select"]
    without = [all_ - part for all_, part in zip(called, compiling[1:], strict=True)]
    seconds["apricot-select, compiling left out"] = without
    outcomes["apricot-select, compiling left out"] = outcomes["apricot-select"]
    best = references.covered(array, outcomes[OURS])
    for name in seconds:
        reached = references.covered(array, outcomes[name])
        yield {
            "n": len(array),
            "budget": budget,
            "solver": name,
            **_times(seconds, name),
            "objective": reached,
            "ours / its objective - 1": best / reached - 1,
        }


def _keeping(contenders: dict, outcomes: dict) -> dict[str, Callable[[], object]]:
    """Return contenders that store their results in `outcomes`."""

    def keep(name: str, run: Callable[[], object]) -> None:
        outcomes[name] = run()

    return {name: partial(keep, name, run) for name, run in contenders.items()}


def _times(seconds: Seconds, name: str) -> Row:
    ratios = [a / b for a, b in zip(seconds[name], seconds[OURS], strict=True)]
    return {
        "seconds": median(seconds[name]),
        "times ours": ratio(seconds[name], seconds[OURS]),
        "least": min(ratios),
        "most": max(ratios),
    }
