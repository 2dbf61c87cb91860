"""Configurations that are wrong, one of each kind: found by a dry run."""

from __future__ import annotations

from typing import Any

from hostile.case import Case

TABLE = {"kind": "tabular", "path": "mine.csv", "target": "y"}


def wrong(said: str, config: dict[str, Any], *, real: bool = False) -> Case:
    """Return the case of a file whose line begins with a key."""
    return Case("plan", f"own.yaml: {said}", config, real=real)


def tabular(said: str, *, real: bool = False, **keys: Any) -> Case:
    """Return the case of a wrong protocol of tables."""
    return wrong(f"protocol.tabular.{said}", {"protocol": {"tabular": keys}}, real=real)


def space(said: str, **changes: Any) -> Case:
    """Return the case of the default search space, changed; None leaves a parameter out."""
    return tabular(said, search_space=changes)


def own(said: str, name: str = "mine", **keys: Any) -> Case:
    """Return the case of a table of the user's own."""
    return wrong(f"own_datasets{said}", {"own_datasets": {name: {**TABLE, **keys}}})


CASES = [
    wrong(
        "datsets: unknown key; valid: parts, experiment, datasets, searches",
        {"datsets": ["dna"]},
        real=True,
    ),
    wrong('datasets.0: "mnist" is not valid; valid: dna, ', {"datasets": ["mnist"]}),
    wrong("datasets: [] is not valid; valid: a list with at", {"datasets": []}),
    wrong("experiment: runs is the name of another folder in", {"experiment": "runs"}),
    wrong(
        'experiment: "xxx...(302 characters) is not valid; valid: ...{0,99}',
        {"experiment": "x" * 300},
    ),
    wrong('selectors.0: "grad" is not valid; valid: full, full-again', {"selectors": ["grad"]}),
    wrong(
        "fractions.1: 1.5 is not valid; valid: number > 0 and <= 1",
        {"fractions": [0.1, 1.5]},
        real=True,
    ),
    wrong("fractions.0: NaN is not valid; valid: number", {"fractions": [float("nan")]}),
    wrong("seeds: [1, 1] is not valid; valid: ...none twice", {"seeds": [1, 1]}),
    wrong("job.gpu_type: needs job.gpus to be 1 or more", {"job": {"gpu_type": "a100"}}),
    Case(
        "plan",
        "...smoke.yaml: datasets.0: dna needs the section protocol.tabular",
        {"protocol": {"tabular": None}},
    ),
    tabular("epochs: 0 is not valid; valid: integer > 0", epochs=0, real=True),
    tabular("model: lstm is for text data; valid: mlp", model="lstm"),
    tabular("augmentation: is for images", augmentation={"flip": True}),
    space("search_space.hidden2: missing; model mlp needs it", hidden2=None),
    space("batch_size: missing, here and in search_space", batch_size=None),
    space("search_space.hidden3: unknown to model mlp; valid:", hidden3={"choice": [1]}),
    space(
        "search_space.batch_size: uniform draws no integer > 0; valid: choice, randint",
        batch_size={"uniform": [16, 64]},
    ),
    space(
        "search_space.learning_rate.uniform: [0.1] is not valid; valid: a list of 2 values",
        learning_rate={"uniform": [0.1]},
    ),
    own(': "../a" is not valid; valid: a text', "../a"),
    own(".dna: the project has this name; choose another", "dna"),
    own(".all: the project has this name", "all"),
    own('.mine.kind: "table" is not valid; valid: tabular, text, image', kind="table"),
    wrong("own_datasets.mine.kind: missing", {"own_datasets": {"mine": {"path": "a.csv"}}}),
    wrong(
        "own_datasets.mine.target: missing",
        {"own_datasets": {"mine": {"kind": "tabular", "path": "mine.csv"}}},
    ),
]
