"""The solvers beside other implementations: seconds, ratio, objective."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from statistics import median
from typing import Any, TypeVar

import numpy as np
from torch import Tensor

from automata.selection.facility import facility_location
from automata.selection.matching import matching_pursuit
from benchmarks.report import Row
from benchmarks.selection import references
from benchmarks.selection.inputs import LATENT, head_gradients, similarities
from benchmarks.timing import Seconds, interleaved, ratio

T = TypeVar("T")

OURS = "ours"
SIZES = ((250, 25), (2250, 225), (2250, 675), (4000, 400))
"""(mini-batches, budget): paper's B = 20 and 10 or 30 % of 5,000, 45,000 and 80,000 images."""
HARD_SIZES = ((250, 25), (2250, 225))
FACILITY_SIZES = ((250, 25), (2250, 225), (4000, 400))


def matching_rows(rounds: int) -> Iterator[Row]:
    """Yield a row per input, size and matching pursuit."""
    for kind, latent, sizes in (("full rank", None, SIZES), ("low rank", LATENT, HARD_SIZES)):
        for n, budget in sizes:
            yield from compare_matching(kind, head_gradients(n, latent), budget, rounds)


def matching_contenders(
    gradients: Tensor, target: Tensor, budget: int
) -> dict[str, Callable[[], references.Choice]]:
    """Return the matching pursuits, ours first; each returns rows and weights."""
    problem = gradients, target, budget

    def ours() -> references.Choice:
        chosen, weights = matching_pursuit(*problem)
        return chosen.numpy(), weights.numpy()

    sklearn = partial(references.sklearn_gram, *problem)
    return {
        OURS: ours,
        "scikit-learn Gram, float64": partial(sklearn, np.float64),
        "scikit-learn Gram, float32": partial(sklearn, np.float32),
        "per-step lstsq, float32": partial(references.per_step_least_squares, *problem),
    }


def compare_matching(kind: str, gradients: Tensor, budget: int, rounds: int) -> Iterator[Row]:
    """Yield a row per matching pursuit; the target is the mean of `gradients`."""
    target = gradients.mean(dim=0)
    seconds, outcomes = _raced(matching_contenders(gradients, target, budget), rounds)
    measure = partial(references.matching_objective, gradients, target)
    objective = {name: measure(choice) for name, choice in outcomes.items()}
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


def facility_rows(rounds: int) -> Iterator[Row]:
    """Yield a row per size and greedy facility location."""
    for n, budget in FACILITY_SIZES:
        similarity = similarities(head_gradients(n))
        array = similarity.numpy()
        compiling: list[float] = []
        contenders: dict[str, Callable[[], Any]] = {
            OURS: partial(facility_location, similarity, budget),
            "apricot-select": partial(references.apricot, array, budget, compiling),
            "NumPy, every gain": partial(references.plain_greedy, array, budget),
        }
        seconds, outcomes = _raced(contenders, rounds)
        outcomes[OURS] = outcomes[OURS][0].numpy()  # without the weights
        called, without = "apricot-select", "apricot-select, compiling left out"
        pairs = zip(seconds[called], compiling[1:], strict=True)
        seconds[without] = [whole - part for whole, part in pairs]
        outcomes[without] = outcomes[called]
        best = references.covered(array, outcomes[OURS])
        for name in seconds:
            reached = references.covered(array, outcomes[name])
            yield {
                "n": n,
                "budget": budget,
                "solver": name,
                **_times(seconds, name),
                "objective": reached,
                "ours / its objective - 1": best / reached - 1,
            }


def _raced(contenders: Mapping[str, Callable[[], T]], rounds: int) -> tuple[Seconds, dict[str, T]]:
    """Return the seconds of the contenders, and their latest results."""
    outcomes: dict[str, T] = {}

    def keep(name: str) -> None:
        outcomes[name] = contenders[name]()

    return interleaved({name: partial(keep, name) for name in contenders}, rounds), outcomes


def _times(seconds: Seconds, name: str) -> Row:
    ratios = [a / b for a, b in zip(seconds[name], seconds[OURS], strict=True)]
    return {
        "seconds": median(seconds[name]),
        "times ours": ratio(seconds[name], seconds[OURS]),
        "least": min(ratios),
        "most": max(ratios),
    }
