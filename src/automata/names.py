"""Display names, colours, markers and order of data sets and methods; a user's own come last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar
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

SPARE_COLOURS = ("#7B3294", "#8C510A", "#B2182B", "#1B7837", "#4D4D4D")
SPARE_MARKERS = ("p", "h", "<", ">")
"""Looks of methods without one in their entry, and of users' own methods; no entry uses them."""

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


def look(selector_name: str) -> Method:
    """Return a selector or control with its look; a user's own gets one of the spare looks."""
    own = Method(display=selector_name, meaning="the user's own")
    return _with_look(selector_name, METHODS.get(selector_name, own))


def scheduler_look(name: str) -> Scheduler:
    """Return a scheduler with its look; a user's own gets one of the spare looks."""
    own = Scheduler(display=name, short=name, meaning="the user's own")
    return _with_look(name, SCHEDULERS.get(name, own))


M = TypeVar("M", bound=Method)


def _with_look(name: str, method: M) -> M:
    """Return `method` with a spare look if it has none; a name always gets the same look."""
    number = crc32(name.encode())
    colour = SPARE_COLOURS[number % len(SPARE_COLOURS)]
    marker = SPARE_MARKERS[number // len(SPARE_COLOURS) % len(SPARE_MARKERS)]
    return replace(method, colour=method.colour or colour, marker=method.marker or marker)


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


def tuner(search_name: str, scheduler_name: str) -> str:
    """Return the display name of a search with a scheduler, as in the paper: TPE, HB."""
    return f"{search(search_name)}, {scheduler_look(scheduler_name).short}"


def ordered(values: Iterable[str], order: Mapping[str, object]) -> list[str]:
    """Return each of `values` once: first those in `order`, then the others by name."""
    places = {name: place for place, name in enumerate(order)}
    return sorted(set(values), key=lambda name: (places.get(name, len(places)), name))
