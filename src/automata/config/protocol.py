"""How the data sets of one kind are tuned and trained."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, PositiveInt

from automata.config.base import Section, one_of
from automata.config.spaces import Domain
from automata.models import MODELS
from automata.tuning import SEARCHES

ModelName = Annotated[str, one_of(MODELS)]
SearchName = Annotated[str, one_of(SEARCHES)]


class OwnModel(Section):
    """A model of the user's own; further keys are keyword arguments of the factory."""

    model_config = ConfigDict(extra="allow", frozen=True)

    factory: Annotated[
        str,
        Field(
            pattern=r"^\w+(\.\w+)*:\w+$",
            description='"package.module:function", called with dataset and configuration',
        ),
    ]

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments of the factory."""
        return dict(self.model_extra or {})


class Augmentation(Section):
    """Random changes of training images."""

    crop_padding: Annotated[
        int, Field(ge=0, description="Crop at random after padding by so many pixels; 0: none")
    ] = 0
    flip: Annotated[
        bool, Field(description="Mirror every other image, unless its class would change")
    ] = False


class Protocol(Section):
    """How one search tunes and trains.

    A hyper-parameter of the search space takes the place of the fixed value of that name.
    """

    model: Annotated[ModelName | OwnModel, Field(description="Model")]
    configurations: Annotated[PositiveInt, Field(description="Configurations (trials) per search")]
    epochs: Annotated[PositiveInt, Field(description="T: epochs of a training that goes on")]
    reselect_every: Annotated[PositiveInt, Field(description="R: epochs between selections")]
    evaluate_every: Annotated[
        PositiveInt | None,
        Field(description="Epochs between evaluations for the curve; null: at the rungs alone"),
    ] = None
    batch_size: Annotated[
        PositiveInt | None,
        Field(description="B: samples per mini-batch, in training and selection"),
    ] = None
    optimizer: Literal["adam", "sgd"] = "sgd"
    momentum: Annotated[float, Field(ge=0, lt=1, description="Momentum of SGD")] = 0.0
    nesterov: Annotated[bool, Field(description="Nesterov's momentum in place of the usual")] = (
        False
    )
    weight_decay: Annotated[float, Field(ge=0, description="L2 penalty of the optimizer")] = 0.0
    schedule: Annotated[
        Literal["none", "cosine", "step"],
        Field(description="Learning rate over the epochs; step: decay_factor every decay_every"),
    ] = "none"
    decay_every: Annotated[
        PositiveInt, Field(description="Epochs between decays of the step schedule")
    ] = 20
    decay_factor: Annotated[
        float, Field(gt=0, le=1, description="Learning rate is multiplied by this at a decay")
    ] = 0.05
    augmentation: Augmentation = Augmentation()
    search_space: Annotated[dict[str, Domain], Field(description="The hyper-parameters")]


class SearchChange(Section):
    """What is different under one search algorithm."""

    configurations: PositiveInt | None = None
    search_space: Annotated[
        dict[str, Domain], Field(description="Hyper-parameters that come on top")
    ] = {}


class KindProtocol(Protocol):
    """The protocol of one kind of data, under every search."""

    for_search: Annotated[
        dict[SearchName, SearchChange], Field(description="Changes by search algorithm")
    ] = {}
