"""The protocol of one kind of data: how its data sets are tuned and trained."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, NonNegativeFloat, PositiveFloat
from pydantic.json_schema import SkipJsonSchema

from automata.config import spaces
from automata.config.base import (
    Axis,
    BadKeyError,
    Configurations,
    Count,
    NonNegative,
    Rungs,
    Section,
    Share,
    added,
    inside,
    one_of,
)
from automata.metrics import METRICS
from automata.registry import MODELS, SEARCHES, TARGET, Kind, ModelSpec

ModelName = Annotated[str, one_of(MODELS)]
Metric = Annotated[str, one_of(METRICS)]
SearchName = Annotated[str, Field(pattern="^[a-z0-9]{1,40}$", examples=list(SEARCHES))]
Exponent = Annotated[float, Field(ge=0, le=1)]

FINALIST_RUNGS = {0.25: 2, 0.5: 1}
"""The default of `finalist_rungs`."""


class OwnModel(Section):
    """A user's own model; further keys are keyword arguments of the factory."""

    model_config = ConfigDict(extra="allow")

    factory: Annotated[str, Field(pattern=TARGET)]
    """"package.module:function", called with dataset and configuration"""

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments of the factory."""
        return dict(self.model_extra or {})


class Augmentation(Section):
    """Random changes of training images."""

    crop_padding: NonNegative = 0
    """pixels of padding before random crops of training images; 0: no crops"""
    flip: bool = False
    """mirror training images with probability 1/2, except for data sets with `flip: false`"""


class Protocol(Section):
    """The protocol of one search algorithm; hyper-parameters override keys of the same name."""

    model: ModelName | OwnModel
    """model: `mlp` (tabular), `lstm` (text), `convnet`, `resnet18`, `resnet50` (image), or your
    own, `{factory: "package.module:function", ...}`"""
    configurations: Configurations
    """trials of a search"""
    epochs: Count
    """T: epochs of the final training, and of a trial that is not stopped early"""
    search_minutes: Annotated[PositiveFloat | None, added(None)] = None
    """limit of a search in minutes of wall time: trials then end at their next rung, and the best
    configuration so far trains on all data. This is not reproducible. `null`: no limit"""
    reselect_every: Count
    """R: epochs between two selections of a subset"""
    evaluate_every: SkipJsonSchema[None] = None  # paths of published runs depend on this key
    batch_size: Count | None = None
    """B: samples in a mini-batch"""
    optimizer: spaces.Optimizer = "sgd"
    """optimizer"""
    momentum: spaces.Momentum = 0.0
    """momentum of SGD"""
    nesterov: bool = False
    """use Nesterov momentum"""
    weight_decay: NonNegativeFloat = 0.0
    """L2 penalty"""
    schedule: spaces.Schedule = "none"
    """schedule of the learning rate over the epochs"""
    decay_every: Count = 20
    """epochs between two decays of the `step` schedule"""
    decay_factor: Share = 0.05
    """factor of each decay"""
    horizon_exponent: Annotated[Exponent | Axis[Exponent], added(0.0)] = 0.0
    """beta: trials on a fraction f of the data multiply their learning rates by f^-beta, because
    they take fewer steps. Warm start and final training do not. A list makes a *screen* for each
    value: one search after the other, all with the same configurations in the same order"""
    screen_metric: Annotated[Metric | None, added(None)] = None
    """validation score that ranks trials on subsets; `null`: `metric`"""
    finalists: Annotated[Count, added(1)] = 1
    """m: after a search on subsets, the best m configurations of each screen train on all data.
    They are compared by `metric` at `finalist_rungs`. The best one trains to T and is the model"""
    finalist_rungs: Annotated[Rungs, added(FINALIST_RUNGS)] = FINALIST_RUNGS
    """share of T -> how many finalists stay after so many epochs, fewer at each; the best one at T
    wins. `{0.1: 3, 0.3333: 2}`: all train to T/10, the best three to T/3, the best two to T"""
    augmentation: Augmentation = Augmentation()
    metric: Annotated[Metric, added("accuracy")] = "accuracy"
    """validation score that ranks the trials: see [metrics](#metrics)"""
    break_ties: Annotated[bool, added(False)] = False
    """the lower log loss decides between trials, or finalists, with equal validation scores (to 8
    digits). Few validation rows make ties likely. `false`: the order of trials decides"""
    patience: Annotated[Count | None, added(None)] = None
    """epochs without a better one after which a training ends. The validation set is then scored
    after every epoch, as part of the run's time. The best epoch has the best `metric`, or for
    `accuracy` the lowest log loss; its weights are the model, and its score is reported at rungs.
    `null`: train to the end, and keep the last weights"""
    class_weights: Annotated[Literal["none", "balanced"], added("none")] = "none"
    """weights of rows in the training loss; `balanced`: n / (classes x rows of the class), so that
    all classes have equal weight. `balanced` is the default if `metric` is `balanced_accuracy`"""
    search_space: dict[str, spaces.Domain]
    """hyper-parameters to tune, and their domains: see below"""

    @property
    def screens(self) -> list[float]:
        """The horizon exponents of the screens of a search."""
        exponents = self.horizon_exponent
        return exponents if isinstance(exponents, list) else [exponents]

    @property
    def trials(self) -> int:
        """Trials of all screens."""
        return self.configurations * len(self.screens)


OF_SUBSETS = {
    name: Protocol.model_fields[name].default
    for name in ("horizon_exponent", "screen_metric", "finalists", "finalist_rungs")
}
"""Keys of a protocol that only runs on subsets read, and their defaults."""


class SearchChange(Section):
    """Overrides of the protocol for one search algorithm."""

    configurations: Configurations | None = None
    """trials of a search"""
    search_space: dict[str, spaces.Domain] = {}
    """further hyper-parameters"""


class KindProtocol(Protocol):
    """The protocol of one kind of data, for all searches."""

    for_search: dict[SearchName, SearchChange] = {}
    """overrides by search algorithm: the number of `configurations`, and further domains of
    `search_space`; see text.yaml"""

    def under(self, search: str) -> Protocol:
        """Return the protocol of one search algorithm."""
        change = self.for_search.get(search, SearchChange())
        values = {name: getattr(self, name) for name in Protocol.model_fields}
        values["configurations"] = change.configurations or self.configurations
        values["search_space"] = {**self.search_space, **change.search_space}
        # This is no default of the class: records omit the key if it is `none`.
        if METRICS[self.metric].equal_classes and "class_weights" not in self.model_fields_set:
            values["class_weights"] = "balanced"
        return Protocol(**values)

    @property
    def types(self) -> dict[str, Any]:
        """The types of the hyper-parameters that are known; a user's own model may have others."""
        return spaces.VALUES if isinstance(self.model, str) else spaces.TRAINING

    def check(self, kind: Kind, searches: Iterable[str]) -> None:
        """Raise BadKeyError unless the protocol suits this `kind` of data and these `searches`."""
        spec = MODELS[self.model] if isinstance(self.model, str) else None
        if spec is not None and spec.kind != kind:
            valid = ", ".join(name for name, other in MODELS.items() if other.kind == kind)
            raise BadKeyError(["model"], f"{self.model} is for {spec.kind} data; valid: {valid}")
        if kind != "image" and self.augmentation != Augmentation():
            raise BadKeyError(["augmentation"], "is for images")
        screen = self.screen_metric or self.metric
        if screen != self.metric and not METRICS[screen].always:
            valid = ", ".join(name for name, entry in METRICS.items() if entry.always)
            problem = f"{screen} is measured only if it is the metric; valid: {valid}"
            raise BadKeyError(["screen_metric"], problem)
        with inside("search_space"):
            spaces.check_values(self.search_space, self.types)
        for name, change in self.for_search.items():
            with inside("for_search", name, "search_space"):
                spaces.check_values(change.search_space, self.types)
        for search in searches:
            _check_completeness(self.under(search), spec)


def _check_completeness(protocol: Protocol, spec: ModelSpec | None) -> None:
    """Raise BadKeyError for a missing, unknown or conflicting hyper-parameter."""
    space = protocol.search_space
    rates = spec.optional if spec is not None and spec.kind == "image" else ()
    if "learning_rate" not in space and not (rates and all(rate in space for rate in rates)):
        alternative = f" (or all of {', '.join(rates)})" if rates else ""
        raise BadKeyError(["search_space", "learning_rate"], f"missing{alternative}")
    if "learning_rate" in space and rates and all(rate in space for rate in rates):
        problem = f"has no effect beside all of {', '.join(rates)}; remove it, or these by null"
        raise BadKeyError(["search_space", "learning_rate"], problem)
    if "batch_size" not in space and protocol.batch_size is None:
        raise BadKeyError(["batch_size"], "missing, here and in search_space")
    values: dict[str, list[Any]] = {name: domain.draw[1] for name, domain in space.items()}
    nesterov = values.get("nesterov", [protocol.nesterov])
    if True in nesterov and 0 in values.get("momentum", [protocol.momentum]):
        raise BadKeyError(["nesterov"], "needs a momentum > 0")
    if (count := spaces.size(space)) < protocol.configurations:
        problem = f"{protocol.configurations} is more than the {count} of search_space"
        raise BadKeyError(["configurations"], problem)
    if spec is None:
        return
    for name in spec.hyperparameters:
        if name not in space:
            raise BadKeyError(["search_space", name], f"missing; model {protocol.model} needs it")
    known = [*spaces.TRAINING, *spec.hyperparameters, *spec.optional]
    for name in space:
        if name not in known:
            problem = f"unknown to model {protocol.model}; valid: {', '.join(known)}"
            raise BadKeyError(["search_space", name], problem)
