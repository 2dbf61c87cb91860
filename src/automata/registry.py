"""The project's methods and models: one entry each, which imports nothing until it is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["tabular", "text", "image"]
"""The kinds of data."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """How a search, a scheduler, a selector or a control is imported and named."""

    display: str
    """Its name in figures, tables and the page."""
    meaning: str
    """What it does; the page and docs/configuration.md show this text."""
    target: str = ""
    """"module:class", or a function that makes one; empty for a control, which has no selector."""
    reads_validation: bool = False
    """Whether a selector reads the validation labels: its validation score is then too high."""


@dataclass(frozen=True, kw_only=True)
class Scheduler(Method):
    """A scheduler, which decides how long each trial trains."""

    short: str
    """Its name in titles of panels, as in the paper."""
    all_data: bool = False
    """Whether its trials train on all data, so that it needs a control."""


@dataclass(frozen=True, kw_only=True)
class Control(Method):
    """A value of the axis `selectors` that selects no subsets: trials use all data, or none."""

    fraction: int
    """The share of the data that trials see, used as subset size in paths and tables."""
    stream: str = "training"
    """The random stream of initial weights and mini-batches."""

    @property
    def searches(self) -> bool:
        """Whether trials train at all."""
        return self.fraction > 0


SEARCHES = {
    "random": Method(
        target="automata.tuning.searchers:RandomSearch",
        display="Random",
        meaning="configurations at random",
    ),
    "tpe": Method(
        target="automata.tuning.searchers:tpe_search",
        display="TPE",
        meaning="configurations of HyperOpt's tree-structured Parzen estimator",
    ),
}

SCHEDULERS = {
    "hyperband": Scheduler(
        target="automata.search.schedulers:Hyperband",
        display="Hyperband",
        short="HB",
        meaning="brackets of successive halving, from many short trials to few long ones (Li et "
        "al., as Ray Tune runs it)",
    ),
    "asha": Scheduler(
        target="automata.search.schedulers:Asha",
        display="ASHA",
        short="ASHA",
        meaning="asynchronous successive halving: a trial continues if it is among the best at its "
        "rung so far",
    ),
    "sha": Scheduler(
        target="automata.search.schedulers:SuccessiveHalving",
        display="successive halving",
        short="SHA",
        meaning="one bracket of successive halving with all trials, Hyperband's most aggressive",
    ),
    "one-epoch": Scheduler(
        target="automata.search.schedulers:OneEpoch",
        display="one epoch",
        short="1 epoch",
        meaning="all but the best three trials end after one epoch; these are halved at T/4 and "
        "T/2. Trials train on all data: for `full`, `full-again` and `untuned` only",
        all_data=True,
    ),
    "none": Scheduler(
        target="automata.search.schedulers:NoScheduler",
        display="no scheduler",
        short="none",
        meaning="every trial trains to T",
    ),
}

# Figures draw in this order: AUTOMATA is last, on top.
CONTROLS = {
    "full": Control(
        display="FULL",
        meaning="tuning on all data: the baseline of every comparison",
        fraction=1,
    ),
    "full-again": Control(
        display="FULL (repeat)",
        meaning="FULL with other initial weights and mini-batches: how far two such runs differ",
        fraction=1,
        stream="training again",
    ),
    "untuned": Control(
        display="untuned",
        meaning="no tuning: one configuration drawn at random, trained once on all data",
        fraction=0,
    ),
}


def goes_together(scheduler: str, selector: str) -> bool:
    """Return whether the grid combines the two: a scheduler for all data needs a control."""
    method = SCHEDULERS.get(scheduler)  # None: one of the user's own
    return method is None or not method.all_data or selector in CONTROLS


SELECTORS = {
    "random": Method(
        target="automata.selection.random:FixedRandom",
        display="RANDOM (fixed)",
        meaning="one random subset, the same for the whole search",
    ),
    "adaptive-random": Method(
        target="automata.selection.random:AdaptiveRandom",
        display="RANDOM (adaptive)",
        meaning="a new random subset at every re-selection",
    ),
    "rs2": Method(
        target="automata.selection.random:RepeatedRandom",
        display="RS2",
        meaning="a new random subset every epoch, without replacement until the data are used up",
    ),
    "craig": Method(
        target="automata.selection.craig:Craig",
        display="CRAIG",
        meaning="mini-batches whose gradients represent those of all others (facility location)",
    ),
    "glister": Method(
        target="automata.selection.glister:Glister",
        display="GLISTER",
        meaning="mini-batches that lower the validation loss the most",
        reads_validation=True,
    ),
    "gradmatch-adaptive": Method(
        target="automata.selection.gradmatch:AdaptiveGradMatch",
        display="AUTOMATA (adaptive)",
        meaning="AUTOMATA with only as many mini-batches as a good match needs",
    ),
    "gradmatch": Method(
        target="automata.selection.gradmatch:GradMatch",
        display="AUTOMATA",
        meaning="weighted mini-batches whose sum matches the full gradient: the paper's method",
    ),
}

METHODS: dict[str, Method] = {**CONTROLS, **SELECTORS}
"""The values of the axis `selectors`."""

REGISTRIES: dict[str, Mapping[str, Method]] = {
    "search": SEARCHES,
    "scheduler": SCHEDULERS,
    "selector": METHODS,
}
"""The project's own methods by kind."""


@dataclass(frozen=True)
class ModelSpec:
    """A model that ships with the project."""

    factory: str
    kind: Kind
    hyperparameters: tuple[str, ...] = ()
    """Hyper-parameters that the search space must have, besides those of every training."""
    optional: tuple[str, ...] = ()
    """Hyper-parameters that it may have."""


_RATES = ("lr1", "lr2", "lr3", "lr4")

MODELS: dict[str, ModelSpec] = {
    "mlp": ModelSpec("automata.models.nets:mlp", "tabular", ("hidden1", "hidden2"), ("dropout",)),
    "lstm": ModelSpec("automata.models.nets:lstm", "text", ("hidden",), ("layers", "dropout")),
    "convnet": ModelSpec("automata.models.nets:convnet", "image"),
    "resnet18": ModelSpec("automata.models.nets:resnet18", "image", optional=_RATES),
    "resnet50": ModelSpec("automata.models.nets:resnet50", "image", optional=_RATES),
}

TARGET = r"^\w+(\.\w+)*:\w+$"
"""Pattern of "module:attribute"."""

OWN = {"search": "own_searches", "scheduler": "own_schedulers", "selector": "own_selectors"}
"""Keys of a configuration that name a user's own methods, by kind: the fields of a run."""
