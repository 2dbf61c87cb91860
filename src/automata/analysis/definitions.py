"""The reported quantities, each defined once (a run against the FULL run of its pair)."""

from __future__ import annotations

FORWARD_SHARE = 1 / 3
"""Cost of a forward pass over the training set, in epochs: one of the three passes of a step."""


def speedup(full_seconds: float, run_seconds: float) -> float:
    """Return total(FULL) / total(run); totals are tuning plus final training."""
    return full_seconds / run_seconds


def relative_test_error(full_accuracy: float, run_accuracy: float) -> float:
    """Return accuracy(FULL) - accuracy(run) in percentage points; negative is a gain.

    The paper gives no formula; its "performance loss of 0.65 %" fits this one.
    """
    return 100 * (full_accuracy - run_accuracy)


def relative_error_ratio(full_accuracy: float, run_accuracy: float) -> float | None:
    """Return (error(run) - error(FULL)) / error(FULL); None when FULL makes no error."""
    full_error = 1 - full_accuracy
    return (full_accuracy - run_accuracy) / full_error if full_error > 0 else None


def energy_ratio(full_joules: float | None, run_joules: float | None) -> float | None:
    """Return energy(FULL) / energy(run); None when one of them was not measured."""
    if full_joules is None or run_joules is None or run_joules == 0:
        return None
    return full_joules / run_joules


def cpu_ratio(full_seconds: float | None, run_seconds: float | None) -> float | None:
    """Return CPU time(FULL) / CPU time(run); None when one of them was not measured."""
    if full_seconds is None or run_seconds is None:
        return None
    return full_seconds / run_seconds


def ceiling(
    full_epochs: float,
    run_epochs: float,
    final_epochs: float,
    gradient_selections: int,
    concurrent_trials: int,
) -> float:
    """Return the speedup if every epoch cost its share of samples and nothing else did.

    E_full/P / (T + E_run/P + selection/P). Epochs are passes over the training set, so that
    `run_epochs` is f times the epochs trained on subsets plus the warm start; a selection that
    reads gradients costs one forward pass; P trials run at once, the final training alone.
    """
    selection = FORWARD_SHARE * gradient_selections
    run = final_epochs + (run_epochs + selection) / concurrent_trials
    return full_epochs / concurrent_trials / run


def step_ceiling(
    full_steps: int, run_steps: int, final_steps: int, concurrent_trials: int
) -> float:
    """Return the speedup if every optimizer step cost the same and nothing else cost anything.

    Small batches make dear epochs: where the best configuration has large batches its final
    training is cheaper than the epoch that `ceiling` counts, and the speedup can pass that.
    """
    return full_steps / concurrent_trials / (final_steps + run_steps / concurrent_trials)


def final_ceiling(
    full_seconds: float,
    full_epochs: float,
    run_epochs: float,
    final_seconds: float,
    gradient_selections: int,
) -> float:
    """Return `ceiling` with the final training at the seconds that it took.

    Which configuration won decides how dear the final training is; the rest costs what an epoch
    of FULL did on average, with as many trials at once.
    """
    epoch = full_seconds / full_epochs
    passes = run_epochs + FORWARD_SHARE * gradient_selections
    return full_seconds / (final_seconds + passes * epoch)
