"""Display names, as the paper writes them where it has one."""

from __future__ import annotations

from automata.datasets.catalog import DATASETS
from automata.runs import data_set

SELECTORS = {
    "full": "FULL",
    "full-again": "FULL (repeat)",
    "untuned": "untuned",
    "random": "RANDOM (fixed)",
    "adaptive-random": "RANDOM (adaptive)",
    "rs2": "RS2",
    "craig": "CRAIG",
    "gradmatch": "AUTOMATA",
    "gradmatch-adaptive": "AUTOMATA (adaptive)",
    "glister": "GLISTER",
}
SEARCHES = {"random": "Random", "tpe": "TPE"}
SCHEDULERS = {"hyperband": "HB", "asha": "ASHA", "none": "no scheduler"}


def dataset(name: str) -> str:
    """Return the display name of a data set; a user's own keeps its name."""
    known = data_set(name)
    if known not in DATASETS:
        return name
    shown = {"connect4": "CONNECT-4", "glue-sst2": "glue-SST2"}.get(known, known.upper())
    return shown + name.removeprefix(known)


def combination(dataset_name: str, search: str, scheduler: str) -> str:
    """Return the paper's panel title, e.g. SATIMAGE (TPE, HB)."""
    return f"{dataset(dataset_name)} ({SEARCHES[search]}, {SCHEDULERS[scheduler]})"
