"""Display names, colours, markers and order of data sets and methods; a user's own come last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from zlib import crc32

from automata import catalog
from automata.registry import CONTROLS as CONTROLS
from automata.registry import METHODS as METHODS
from automata.registry import SCHEDULERS as SCHEDULERS
from automata.registry import SEARCHES as SEARCHES
from automata.registry import Method, Scheduler

AUTOMATA = "gradmatch"
"""The selector of the paper's method."""

DATASETS = {name: name.upper() for name in catalog.DATASETS}
DATASETS |= {"connect4": "CONNECT-4", "glue-sst2": "glue-SST2"}
"""The data sets that the project knows, as the paper writes them."""

# The colours are those of Okabe and Ito for colour-blind readers, but grey in place of pale yellow.
# The markers also differ in grey print. A new one is filled: seaborn mixes filled ones only.
LOOKS: dict[str, tuple[str, Any]] = {
    "full": ("#000000", "*"),
    "full-again": ("#000000", (5, 1, 36.0)),  # a star upside down
    "untuned": ("#000000", "_"),
    "random": ("#E69F00", "s"),
    "adaptive-random": ("#56B4E9", "D"),
    "rs2": ("#009E73", "^"),
    "craig": ("#CC79A7", "v"),
    "glister": ("#7F7F7F", "X"),
    "gradmatch-adaptive": ("#0072B2", "P"),
    "gradmatch": ("#D55E00", "o"),
}
"""Colour and matplotlib's marker of each control and selector."""

SCHEDULER_LOOKS: dict[str, tuple[str, Any]] = {
    "hyperband": ("#0072B2", "o"),
    "asha": ("#E69F00", "s"),
    "sha": ("#56B4E9", "^"),
    "one-epoch": ("#000000", "P"),
    "none": ("#7F7F7F", "D"),
}
"""The same of each scheduler."""

SPARE_COLOURS = ("#7B3294", "#8C510A", "#B2182B", "#1B7837", "#4D4D4D")
SPARE_MARKERS = ("p", "h", "<", ">")
"""Looks of users' own methods, and of others that have none above."""

FULL, REPEAT, UNTUNED = (METHODS[name].display for name in ("full", "full-again", "untuned"))
ONE_EPOCH = SCHEDULERS["one-epoch"].display
PLAIN_HALVING, HEDGE = "plain halving", "hedge"
"""Names of methods in tables of simulated searches that are not a selector and its subset size."""

ALL_DATA_CONTROLS = tuple(name for name, control in CONTROLS.items() if control.searches)
"""Controls whose trials train on all data."""

CONTRASTS = (
    ("adaptive-random", "random"),
    ("rs2", "random"),
    (AUTOMATA, "random"),
    (AUTOMATA, "adaptive-random"),
    (AUTOMATA, "rs2"),
    (AUTOMATA, "craig"),
)
"""Pairs of selectors to compare: redrawn with fixed, and gradient-based with random subsets."""


def contrasts(selectors: Iterable[str]) -> list[tuple[str, str]]:
    """Return CONTRASTS, and each selector of the user's own against random subsets and AUTOMATA."""
    own = sorted(set(selectors) - METHODS.keys())
    return [*CONTRASTS, *((name, other) for name in own for other in ("random", "rs2", AUTOMATA))]


class Look(NamedTuple):
    """A method as tables, figures and the page show it."""

    display: str
    short: str
    """Its name in titles of panels."""
    meaning: str
    reads_validation: bool
    colour: str
    marker: Any


def look(selector_name: str) -> Look:
    """Return the look of a selector or control; a user's own gets one of the spare looks."""
    return _look(selector_name, METHODS, LOOKS)


def scheduler_look(name: str) -> Look:
    """Return the look of a scheduler; a user's own gets one of the spare looks."""
    return _look(name, SCHEDULERS, SCHEDULER_LOOKS)


def _look(name: str, registry: Mapping[str, Method], looks: Mapping[str, tuple[str, Any]]) -> Look:
    """Return the look of a method; a name always gets the same spare one."""
    method = registry.get(name, Method(display=name, meaning="the user's own"))
    short = method.short if isinstance(method, Scheduler) else method.display
    colour, marker = looks.get(name) or _spare_look(name)
    return Look(method.display, short, method.meaning, method.reads_validation, colour, marker)


def _spare_look(name: str) -> tuple[str, Any]:
    number, colours = crc32(name.encode()), len(SPARE_COLOURS)
    return SPARE_COLOURS[number % colours], SPARE_MARKERS[number // colours % len(SPARE_MARKERS)]


def dataset(name: str) -> str:
    """Return the display name of a data set."""
    return DATASETS.get(name, name)


def search(name: str) -> str:
    """Return the display name of a search."""
    return SEARCHES[name].display if name in SEARCHES else name


def scheduler(name: str) -> str:
    """Return the display name of a scheduler."""
    return scheduler_look(name).display


def selector(name: str) -> str:
    """Return the display name of a selector."""
    return look(name).display


def method(selector_name: str, fraction: float) -> str:
    """Return the display name of a selector with its subset size, or of a control: AUTOMATA 5 %."""
    shown = selector(selector_name)
    return shown if selector_name in CONTROLS else f"{shown} {100 * fraction:.3g} %"


def ordered(values: Iterable[str], order: Mapping[str, object]) -> list[str]:
    """Return each of `values` once: first those in `order`, then the others by name."""
    places = {name: place for place, name in enumerate(order)}
    return sorted(set(values), key=lambda name: (places.get(name, len(places)), name))
