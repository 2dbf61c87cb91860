"""The search that fits data, machine and time: what `automata new` writes and `tune` does."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import torch

from automata.allocation import cpus
from automata.analysis import wording
from automata.analysis.how_good import likely, rows_of
from automata.config import spaces
from automata.config.data import VECTORS
from automata.config.files import DEFAULTS, RECOMMENDED, Config, combine, read, read_experiments
from automata.config.job import AXES, Job, first_run
from automata.datasets.prepared import Dataset
from automata.errors import printable
from automata.experiment.probe import probed
from automata.experiment.sizes import EFFICIENCY, RUN_SECONDS, Size, expected
from automata.metering.processor import watts_per_thread
from automata.metrics import METRICS
from automata.records import paths
from automata.records.measurement import JOULES_PER_KWH
from automata.training.device import choose_device

UNBALANCED = 3.0
"""Ratio of the largest to the smallest class above which accuracy says little."""
PATIENCE = 10
"""Epochs without improvement."""
FEWEST_ROWS = 3000
"""Training rows from which the hedge is written; its first study had 1 % of 3,000 rows or more."""
HYPERBAND, ASHA, HEDGE = "Hyperband on all data", "ASHA on all data", "the hedge"
SCHEDULERS = {HYPERBAND: "hyperband", ASHA: "asha"}
MANY = 81
"""Configurations from which ASHA is written for texts and images, too: with 27 it lost up to 1.6
points on them."""
STUDIED = range(27, MANY)
"""Configurations with which the hedge is written: with 9 it lost 12.8 points on TREC6, and with 81
it failed the first test of docs/study-2.md."""
FEW_TEST_ROWS = 20
"""Test rows of a class below which a result is so uncertain that it is said before the search."""
CLOSE = 1.1
"""Methods whose times differ by a smaller factor count as equally fast."""
RATES = {"loguniform": [0.0003, 0.01]}
SPACES: dict[str, dict[str, Any]] = {
    "tabular": {
        **{key: {"choice": [8, 32, 150, 300]} for key in ("hidden1", "hidden2")},
        "learning_rate": RATES,
        "weight_decay": {"loguniform": [1e-3, 0.1]},
        "dropout": {"uniform": [0.0, 0.6]},
    },
    "text": {
        "learning_rate": {"loguniform": [0.0003, 0.03]},
        "dropout": {"uniform": [0.0, 0.6]},
    },
    "image": {
        **dict.fromkeys(("lr1", "lr2", "lr3", "lr4"), RATES),
        "weight_decay": {"loguniform": [1e-5, 0.01]},
    },
}
"""Changes of the default search spaces, by kind: regularisation, and a wide learning rate.

Small nets are better on small tables, and as good on large ones. With less weight decay and higher
rates, models of small tables had a higher log loss than the class frequencies. Texts have no weight
decay, because every step would then train every word.
"""
OF_LARGE_TABLES = {
    "learning_rate": {"loguniform": [0.0003, 0.03]},
    "weight_decay": {"loguniform": [1e-5, 0.1]},
}
"""The same from FEWEST_ROWS on, where the weight decay of small tables cost 0 to 3 points."""
SMALL_PIXELS = 64
"""Longest side of small images."""
CONVNET: Config = {
    "model": "convnet",
    "optimizer": "adam",
    "schedule": "cosine",
    "augmentation": {"crop_padding": 2},
    "search_space": {"learning_rate": RATES, "weight_decay": {"loguniform": [1e-5, 0.01]}},
}
"""Keys of the protocol of small images on a CPU.

On 500 images of CIFAR-10 and of clothes, Adam with a cosine schedule was up to 3 points better than
SGD, and crops by 2 pixels up to 2 points better than by 4.
"""


class Plan(NamedTuple):
    """A search and its cost."""

    keys: Config
    """The keys of its configuration, without the data set."""
    method: str
    size: Size
    slots: int
    """Trials that train at the same time."""
    seconds: float
    kwh: float | None
    """None if it cannot be estimated."""
    reason: str = ""
    """Why this method is taken."""
    advice: str = ""
    """How uncertain the result will be, if there are few test rows."""

    @property
    def cost(self) -> str:
        """The expected time and energy, as text."""
        energy = "" if self.kwh is None else f", {wording.energy(self.kwh)}"
        return f"about {wording.seconds(self.seconds)}{energy}"

    def lines(self, hours: float) -> list[str]:
        """Return what a user should know before the search, which may take `hours`."""
        size = f"{self.size.configurations} configurations, {self.size.epochs} epochs"
        size += f", {self.size.seeds} seed(s), {self.slots} at once: {self.cost}"
        if self.seconds > 3600 * hours:
            size += (
                f", more than {wording.seconds(3600 * hours)}; there is no smaller sensible search"
            )
        return [f"search: {size}", f"method: {self.reason}", *filter(None, [self.advice])]


def notes_of(data: Dataset) -> list[str]:
    """Return what was read of own data, without columns left out: `Guess.left_out` names them."""
    return [it for it in data.metadata.get("read", []) if not it.endswith(": left out (drop)")]


def base_of(name: str, own: Config) -> Config:
    """Return the keys of an own data set."""
    base: Config = {"datasets": [name], "own_datasets": {name: own}}
    return base | ({"data": {"vectors": VECTORS}} if own["kind"] == "text" else {})


def recommended(
    data: Dataset, base: Config, changes: Config, hours: float, sizes: Sequence[Size]
) -> Plan:
    """Return the largest search that takes at most `hours` here, by its fastest method.

    `base` has the keys of the data set. `changes` override keys of the plan: if they name a method,
    there is no choice. Times are those of simulated searches in which an epoch takes as long
    as in a probe.
    """
    asked: Config = changes.get("protocol", {}).get(data.kind, {})
    # Without the protocol, whose changes need the search space of the plan.
    others = {key: value for key, value in changes.items() if key != "protocol"}
    compute = job_of(base, others).settings.compute
    on_cpu = choose_device(compute, data.kind).type == "cpu"
    trained = trained_of(data, on_cpu, asked.get("model"))
    protocol = {**trained, "configurations": 1, "epochs": 2}
    whole = {"protocol": {data.kind: {"patience": None}}}
    job = job_of(base, {"protocol": {data.kind: protocol}}, changes, whole)
    most = spaces.size(job.settings.protocol.search_space)
    epochs = probed(data, job)
    slots, watts = float(torch.cuda.device_count()), None
    if on_cpu:
        slots, watts = cpus() / compute.threads_per_trial, watts_per_thread()
    chosen = changes.get("compute", {}).get("concurrent_trials")
    named = not changes.keys().isdisjoint(AXES)

    def planned(method: str, size: Size) -> Plan:
        at_once = chosen or max(1, min(int(slots), size.configurations))
        keys = keys_of(method, size, at_once, data, trained)
        if "metric" in asked:  # which has a default of its own
            del keys["protocol"][data.kind]["class_weights"]
        took = expected(job_of(base, keys, changes), epochs)
        fixed = RUN_SECONDS * (size.seeds + 1)
        wall = took.wall / min(1.0, slots / at_once) / (EFFICIENCY if at_once > 1 else 1)
        kwh = watts and watts * (fixed + size.seeds * took.busy) / JOULES_PER_KWH
        return Plan(keys, method, size, at_once, fixed + size.seeds * wall, kwh)

    def fastest(size: Size) -> Plan:
        if named:
            return planned(HYPERBAND, size)._replace(reason="as you ask")
        plans = [planned(method, size) for method in allowed(data, size)]
        least = min(it.seconds for it in plans)
        plan = next(it for it in plans if it.seconds <= CLOSE * least)
        times = ", ".join(f"{it.method} {wording.seconds(it.seconds)}" for it in plans)
        reason = f"{plan.method}, by predicted times: {times}"
        if plan.seconds > least:
            reason += "; it is almost as fast as the fastest, and lost less in published runs"
        if plan.method == HEDGE and data.kind == "image":
            reason += "; in two studies it lost 0.3 and 1.9 points on images"
        if len(data.train) < FEWEST_ROWS and size.configurations in STUDIED:
            reason += f"; {HEDGE} needs {FEWEST_ROWS} training rows"
        return plan._replace(reason=reason)

    for size in sizes:
        configurations = asked.get("configurations", min(size.configurations, most))
        size = Size(int(configurations), asked.get("epochs", size.epochs), size.seeds)
        plan = fastest(size)
        if plan.seconds <= 3600 * hours:
            break
    metric = asked.get("metric", plan.keys["protocol"][data.kind]["metric"])
    return plan._replace(advice=uncertain(data, metric))


def uncertain(data: Dataset, metric: str) -> str:
    """Return how wide the interval of the result will be, if a class has few test rows."""
    counts = data.metadata.get("rows_by_class", {}).get("test", {})
    rarest = min(counts, key=counts.__getitem__, default=None)
    if rarest is None or counts[rarest] >= FEW_TEST_ROWS:
        return ""
    score = METRICS[metric].words
    few = f"Few test rows, '{printable(rarest)}' has {counts[rarest]}"
    rows, note = rows_of(metric, len(data.test), data.metadata)
    if not rows:
        return f"{few}: the 95 % interval of the {score} will not be known"
    return f"{few}: if the {score} is 80 %, its 95 % interval will be {likely(0.8, rows)} ({note})"


def allowed(data: Dataset, size: Size) -> list[str]:
    """Return the methods to choose from: the one that lost least in published runs comes first."""
    asha = size.configurations >= MANY or data.kind == "tabular"
    hedge = size.configurations in STUDIED and len(data.train) >= FEWEST_ROWS
    return [HYPERBAND, *([ASHA] if asha else []), *([HEDGE] if hedge else [])]


def keys_of(method: str, size: Size, slots: int, data: Dataset, trained: Config) -> Config:
    """Return the keys of a configuration: method, size, slots, model, and what suits the data."""
    if method == HEDGE:
        keys = read(RECOMMENDED)
        of_method = keys["protocol"][data.kind]
    else:
        keys = {"searches": ["random"], "schedulers": [SCHEDULERS[method]], "selectors": ["full"]}
        of_method = {}
    rows = torch.bincount(data.train.labels, minlength=data.classes)
    balanced = bool(rows.max() > UNBALANCED * rows.min().clamp(min=1))
    protocol = {
        "configurations": size.configurations,
        "epochs": size.epochs,
        "metric": "balanced_accuracy" if balanced else "accuracy",
        "break_ties": True,
        "class_weights": "balanced" if balanced else "none",
        "patience": PATIENCE,
        **of_method,
        **trained,
    }
    keys |= {"seeds": [*range(size.seeds)], "protocol": {data.kind: protocol}}
    return keys | ({"compute": {"concurrent_trials": slots}} if slots > 1 else {})


def trained_of(data: Dataset, on_cpu: bool = True, model: Any = None) -> Config:
    """Return the keys of the protocol for changes of the default search space, or for CONVNET.

    `model` is the one that the user names, if any.
    """
    small = data.kind == "image" and max(data.train.inputs.shape[2:]) <= SMALL_PIXELS
    if small and (model == "convnet" or (on_cpu and model is None)):
        return CONVNET
    large = data.kind == "tabular" and len(data.train) >= FEWEST_ROWS
    return {"search_space": SPACES[data.kind] | (OF_LARGE_TABLES if large else {})}


def config_of(*parts: Config) -> Config:
    """Return the configuration that consists of `parts`: later ones override earlier ones."""
    return reduce(combine, parts, read(DEFAULTS))


def job_of(*parts: Config) -> Job:
    """Return the first job of a configuration."""
    (experiment,) = read_experiments([], config_of(*parts), "tune")
    return paths.job_of(experiment, first_run(experiment), {})
