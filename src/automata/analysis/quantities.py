"""The reported quantities: name, words and definition of each, and the function that computes it.

Tables take their columns from QUANTITIES, figures their axes, the page its headings, and the
documentation its table of definitions. All compare a run with the FULL run of its pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from automata.config.sections import Carbon
from automata.metering.measurement import JOULES_PER_KWH

TIMES = "\N{MULTIPLICATION SIGN}"


@dataclass(frozen=True)
class Quantity:
    """A number that tables report: a column, and what readers must know of it."""

    name: str
    """The column."""
    words: str
    """In a sentence."""
    unit: str
    """A ratio, percentage points, a share (shown in percent), seconds, or none."""
    definition: str
    """A sentence."""
    spread: bool = False
    """Whether the tradeoff table has the bounds of its spread over seeds."""
    of_energy: bool = False
    """Whether it rests on energy, which not every run may have."""
    axis: str = ""
    """The label of an axis, without unit, where it is not the words."""

    @property
    def title(self) -> str:
        """At the beginning of a line, without unit: Ceiling of the speedup."""
        return _capital(self.words)

    @property
    def heading(self) -> str:
        """How a table for people heads it: Ideal speedup (x)."""
        return self._with_unit(self.words)

    @property
    def label(self) -> str:
        """The label of an axis: Speedup over FULL (x)."""
        return self._with_unit(self.axis or self.words)

    def note(self, energy: str) -> str:
        """Return what the note of a figure says it is; `energy` is how energies were obtained."""
        return f"{self.definition} Energy: {energy}." if self.of_energy else self.definition

    def _with_unit(self, words: str) -> str:
        shown = _capital(words)
        return f"{shown} ({self.unit})" if self.unit in (TIMES, "pp") else shown


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]


QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        Quantity(
            "speedup",
            "speedup",
            TIMES,
            "Total time of FULL / total time of the run; totals are the search plus the final "
            "training.",
            spread=True,
            axis="speedup over FULL",
        ),
        Quantity(
            "ceiling",
            "ceiling of the speedup",
            TIMES,
            "The speedup if an epoch cost its share of the samples, a selection by gradients one "
            "forward pass, and nothing else anything.",
        ),
        Quantity("efficiency", "speedup / ceiling", "", "The speedup divided by its ceiling."),
        Quantity(
            "step_ceiling",
            "ceiling by steps",
            TIMES,
            "The speedup if every optimizer step cost the same and nothing else cost anything.",
        ),
        Quantity(
            "final_ceiling",
            "ceiling with the measured final training",
            TIMES,
            "The ceiling with the final training at the seconds that it took: the configuration "
            "that wins may be a cheap one.",
        ),
        Quantity(
            "relative_test_error",
            "relative test error",
            "pp",
            "Test accuracy of FULL minus that of the run, in percentage points; negative is a "
            "gain.",
            spread=True,
        ),
        Quantity(
            "relative_error_ratio",
            "relative error ratio",
            "",
            "(Error of the run - error of FULL) / error of FULL.",
        ),
        Quantity("test_accuracy", "test accuracy", "%", "Share of the test rows that are right."),
        Quantity(
            "energy_ratio",
            "energy ratio",
            TIMES,
            "Energy of FULL / energy of the run.",
            spread=True,
            of_energy=True,
            axis="energy ratio, FULL / method",
        ),
        Quantity(
            "co2_measured_ratio",
            "CO2 ratio (from energy)",
            TIMES,
            "CO2 of FULL / CO2 of the run, from energy x PUE x intensity: equals the energy ratio.",
            spread=True,
            of_energy=True,
            axis="CO2 ratio from energy, FULL / method",
        ),
        Quantity(
            "co2_time_ratio",
            "CO2 ratio (from time)",
            TIMES,
            "CO2 of FULL / CO2 of the run, from time x TDP x intensity: equals the speedup.",
            spread=True,
            axis="CO2 ratio from time, FULL / method",
        ),
        Quantity(
            "total_seconds", "total time", "s", "Seconds of the search plus the final training."
        ),
    )
}
"""In the order of the tradeoff table, which has the mean of each over seeds."""

RATIOS = {name: row for name, row in QUANTITIES.items() if row.spread and row.unit == TIMES}
"""What may stand on the x axis of a trade-off."""

VALIDATION = Quantity(
    "best_validation_accuracy",
    "validation accuracy of the best trial",
    "%",
    "Of the trial that the search chose; of a model trained on subsets where the search was.",
)
"""Of a run alone: scores of models trained on subsets do not compare with FULL's."""


def quantity(name: str) -> Quantity:
    """Return the quantity `name`."""
    return VALIDATION if name == VALIDATION.name else QUANTITIES[name]


def words(name: str) -> str:
    """Return what the quantity `name` is called in a sentence."""
    return quantity(name).words


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


SECONDS_PER_HOUR = 3600
GRAMS_PER_MILE = 400
"""Of a car, in the paper's introduction: 640 kg are 1600 miles, 1400 kg are 3500 miles."""
KILOMETRES_PER_MILE = 1.609344


class Footprint(TypedDict):
    """Energy and CO2 of one run."""

    kwh: float | None
    co2_measured_grams: float | None
    co2_time_grams: float


FOOTPRINT = list(Footprint.__annotations__)
"""The columns of `footprint`."""


def footprint(joules: float | None, seconds: float, carbon: Carbon) -> Footprint:
    """Return energy and CO2 of one run; what comes from energy is None where that is."""
    return {
        "kwh": kilowatt_hours(joules),
        "co2_measured_grams": measured_grams(joules, carbon),
        "co2_time_grams": time_based_grams(seconds, carbon),
    }


def kilowatt_hours(joules: float | None) -> float | None:
    """Return `joules` in kWh, without PUE; None for None."""
    return None if joules is None else joules / JOULES_PER_KWH


def measured_grams(joules: float | None, carbon: Carbon) -> float | None:
    """Return the g CO2e of measured or estimated energy: kWh x PUE x g/kWh; None for None."""
    energy = kilowatt_hours(joules)
    return None if energy is None else energy * carbon.pue * carbon.grams_per_kwh


def time_based_grams(seconds: float, carbon: Carbon) -> float:
    """Return the g CO2e of a device at its design power all the time: hours x kW x g/kWh.

    The Machine Learning Impact calculator (Lacoste et al. 2019, arXiv 1910.09700), which the
    paper used: one device, no CPU, no PUE. Its rounding is left out: small jobs would be zero.
    """
    return seconds / SECONDS_PER_HOUR * carbon.tdp_watts / 1000 * carbon.grams_per_kwh


def grams_ratio(full_grams: float | None, run_grams: float | None) -> float | None:
    """Return CO2(FULL) / CO2(run); None when one of them is not known."""
    if full_grams is None or run_grams is None or run_grams == 0:
        return None
    return full_grams / run_grams


def car_kilometres(grams: float) -> float:
    """Return how far the car of the paper's introduction goes for `grams` of CO2e, in km."""
    return grams / GRAMS_PER_MILE * KILOMETRES_PER_MILE
