"""The reported quantities and their texts; `automata.analysis.ratios` has the formulas."""

from __future__ import annotations

from dataclasses import dataclass

TIMES = "\N{MULTIPLICATION SIGN}"

ERROR = "relative_test_error"
"""The quantity on the other axis of every trade-off."""


@dataclass(frozen=True)
class Quantity:
    """A numeric column of the tables, with its texts for readers."""

    name: str
    words: str
    """Name in a sentence."""
    unit: str
    """TIMES, "pp" (percentage points), "%" (the value is a share), "s", "kWh", "g", or nothing."""
    definition: str
    spread: bool = False
    """Whether the tradeoff table has bounds over seeds."""
    seeds: str = "seeds"
    """Column of the tradeoff table with the number of seeds that have it."""
    axis: str = ""
    """Label of an axis without unit, if it differs from the title."""

    @property
    def of_energy(self) -> bool:
        """Whether the quantity is computed from energy."""
        return self.seeds == "energy_seeds"

    @property
    def title(self) -> str:
        """The words with a capital: Ceiling of the speedup."""
        return self.words[0].upper() + self.words[1:]

    @property
    def heading(self) -> str:
        """The heading of a table: Speedup (x)."""
        return self.title + self._in_unit

    @property
    def label(self) -> str:
        """The label of an axis: Speedup over FULL (x)."""
        return (self.axis or self.title) + self._in_unit

    @property
    def _in_unit(self) -> str:
        return f" ({self.unit})" if self.unit in (TIMES, "pp") else ""


QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        Quantity(
            "speedup",
            "speedup",
            TIMES,
            "Total time of FULL / total time of the run; totals are the search plus the final "
            "training. Missing if other work took over 10 % of the CPU time.",
            spread=True,
            seeds="speedup_seeds",
            axis="Speedup over FULL",
        ),
        Quantity(
            "cpu_ratio",
            "work saved",
            TIMES,
            "CPU time of FULL / CPU time of the run; other work hardly changes it. With several "
            "trials at once it is no speedup; with a GPU it is missing.",
            spread=True,
            seeds="cpu_seeds",
        ),
        Quantity(
            "ceiling",
            "ceiling of the speedup",
            TIMES,
            "The speedup if an epoch cost its share of the samples, a selection by gradients one "
            "forward pass, and nothing else cost anything.",
        ),
        Quantity("efficiency", "speedup / ceiling", "", "The speedup divided by its ceiling."),
        Quantity(
            "final_ceiling",
            "ceiling with the measured final training",
            TIMES,
            "The ceiling with the measured time of the final training: a configuration that is "
            "cheap to train may have won.",
        ),
        Quantity(
            ERROR,
            "relative test error",
            "pp",
            "Test accuracy of FULL minus that of the run, in percentage points; negative is a "
            "gain.",
            spread=True,
        ),
        Quantity("test_accuracy", "test accuracy", "%", "Share of the test rows that are right."),
        Quantity(
            "energy_ratio",
            "energy ratio",
            TIMES,
            "Energy of FULL / energy of the run.",
            spread=True,
            seeds="energy_seeds",
            axis="Energy ratio, FULL / method",
        ),
        Quantity(
            "co2_energy_ratio",
            "CO2 ratio",
            TIMES,
            "CO2 of FULL / CO2 of the run, from energy x PUE x intensity. One intensity holds for "
            "all runs, so it equals the energy ratio.",
            spread=True,
            seeds="energy_seeds",
            axis="CO2 ratio, FULL / method",
        ),
        Quantity(
            "co2_time_ratio",
            "CO2 ratio (from time)",
            TIMES,
            "CO2 of FULL / CO2 of the run, from time x TDP x intensity, as in the paper: equals "
            "the speedup.",
            spread=True,
            seeds="speedup_seeds",
        ),
        Quantity(
            "total_seconds", "total time", "s", "Seconds of the search plus the final training."
        ),
        Quantity("kwh", "energy", "kWh", "Energy of the search plus the final training."),
        Quantity("co2_energy_grams", "CO2", "g", "CO2e from energy: energy x PUE x intensity."),
        Quantity(
            "co2_time_grams",
            "CO2 from time",
            "g",
            "CO2e as in the paper: total time x TDP x intensity.",
        ),
    )
}
"""The tradeoff table has the mean of each over seeds, in this order."""

VALIDATION = Quantity(
    "best_validation_accuracy",
    "validation accuracy of the best trial",
    "%",
    "Validation accuracy of the trial that the search chose; under a subset selector, of a model "
    "trained on subsets.",
)
"""A quantity of claims, which the tradeoff table does not have."""

ROUNDING = 1e-9
"""Tolerance of comparisons with a limit: in binary, 100 x (0.88 - 0.86) is more than 2."""
