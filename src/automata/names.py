"""What data sets, searches, schedulers and selectors are called, how they look, and their order.

A name without a row, such as a user's own data set, is shown as it is, after all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from automata.registry import CONTROLS as CONTROLS

AUTOMATA = "gradmatch"
"""The selector of the paper's method."""

BASELINES = ("random", "craig")
"""The subset selectors that the paper compares with."""

DATASETS = {
    "dna": "DNA",
    "satimage": "SATIMAGE",
    "letter": "LETTER",
    "connect4": "CONNECT-4",
    "sst2": "SST2",
    "sst2-binary": "SST2-BINARY",
    "sst5": "SST5",
    "glue-sst2": "glue-SST2",
    "trec6": "TREC6",
    "cifar10": "CIFAR10",
    "cifar100": "CIFAR100",
    "svhn": "SVHN",
}
"""The data sets that the project knows, as the paper writes them."""

SEARCHES = {"random": "Random", "tpe": "TPE"}


@dataclass(frozen=True)
class Scheduler:
    """An early-stopping scheduler."""

    display: str
    short: str
    """In titles of panels, as the paper has it."""
    colour: str
    marker: str


SCHEDULERS = {
    "hyperband": Scheduler("Hyperband", "HB", "#0072B2", "o"),
    "asha": Scheduler("ASHA", "ASHA", "#E69F00", "s"),
    "sha": Scheduler("successive halving", "SHA", "#56B4E9", "^"),
    "one-epoch": Scheduler("one epoch", "1 epoch", "#000000", "P"),
    "none": Scheduler("no scheduler", "none", "#7F7F7F", "D"),
}


@dataclass(frozen=True)
class Method:
    """A subset selector, or a control that it is compared with."""

    display: str
    meaning: str
    colour: str
    marker: Any
    """Of matplotlib."""


# Okabe and Ito's colours: distinct for the colour-blind; the markers tell them apart in grey.
# Grey stands for their yellow, which is too light on white. AUTOMATA is drawn last, on top.
METHODS = {
    "full": Method("FULL", "tuning on all data: the baseline of every comparison", "#000000", "*"),
    "full-again": Method(
        "FULL (repeat)",
        "FULL with other initial weights and mini-batches: how far two such runs differ",
        "#000000",
        (5, 1, 36.0),  # a star upside down
    ),
    "untuned": Method(
        "untuned",
        "no tuning: one configuration drawn at random, trained once on all data",
        "#000000",
        "_",
    ),
    "random": Method(
        "RANDOM (fixed)", "one random subset, the same for the whole search", "#E69F00", "s"
    ),
    "adaptive-random": Method(
        "RANDOM (adaptive)", "a new random subset at every re-selection", "#56B4E9", "D"
    ),
    "rs2": Method(
        "RS2",
        "a new random subset every epoch, without replacement until the data are used up",
        "#009E73",
        "^",
    ),
    "craig": Method(
        "CRAIG",
        "mini-batches whose gradients represent those of all others (facility location)",
        "#CC79A7",
        "v",
    ),
    "glister": Method(
        "GLISTER", "mini-batches that lower the validation loss the most", "#7F7F7F", "X"
    ),
    "gradmatch-adaptive": Method(
        "AUTOMATA (adaptive)",
        "AUTOMATA with only as many mini-batches as the match asks for",
        "#0072B2",
        "P",
    ),
    "gradmatch": Method(
        "AUTOMATA",
        "weighted mini-batches whose sum matches the full gradient: the paper's method",
        "#D55E00",
        "o",
    ),
}

FULL, REPEAT, UNTUNED = (METHODS[name].display for name in ("full", "full-again", "untuned"))
ONE_EPOCH = SCHEDULERS["one-epoch"].display
"""Methods without subsets, as tables of simulated searches name them."""

ALL_DATA = tuple(name for name, control in CONTROLS.items() if control.searches)
"""Those whose trials train on all data."""

CONTRASTS = (
    ("adaptive-random", "random"),
    ("rs2", "random"),
    (AUTOMATA, "random"),
    (AUTOMATA, "adaptive-random"),
    (AUTOMATA, "rs2"),
    (AUTOMATA, "craig"),
)
"""Selectors that are compared in pairs: re-drawing with a fixed subset, gradients with all."""


def scheduler_look(name: str) -> Scheduler:
    """Return how a scheduler looks; a user's own has a look that no other has."""
    return SCHEDULERS.get(name, Scheduler(name, name, "#7B3294", "p"))


def look(selector_name: str) -> Method:
    """Return how a selector looks; a user's own has a look that no other has."""
    return METHODS.get(selector_name, Method(selector_name, "the user's own", "#7B3294", "p"))


def dataset(name: str) -> str:
    """Return the display name of a data set."""
    return DATASETS.get(name, name)


def search(name: str) -> str:
    """Return the display name of a search."""
    return SEARCHES.get(name, name)


def scheduler(name: str) -> str:
    """Return the display name of a scheduler."""
    return scheduler_look(name).display


def selector(name: str) -> str:
    """Return the display name of a selector."""
    return look(name).display


def method(selector_name: str, fraction: float) -> str:
    """Return a selector with its subset size, if it has one: AUTOMATA 5 %, FULL."""
    shown = selector(selector_name)
    return shown if selector_name in CONTROLS else f"{shown} {100 * fraction:.3g} %"


def tuner(search_name: str, scheduler_name: str) -> str:
    """Return a search and a scheduler as the paper's titles have them: TPE, HB."""
    return f"{search(search_name)}, {scheduler_look(scheduler_name).short}"


def ordered(values: Iterable[str], order: Mapping[str, object]) -> list[str]:
    """Return each of `values` once: those in `order` as it has them, then all others by name."""
    places = {name: place for place, name in enumerate(order)}
    return sorted(set(values), key=lambda name: (places.get(name, len(places)), name))
