"""Configurations that are wrong: found by a dry run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from hostile.case import Case, folder

DEFAULTS = yaml.safe_load((Path(__file__).parents[2] / "config/config.yaml").read_text())
TABLE = {"kind": "tabular", "path": "mine.csv", "target": "y"}


def space(**changes: Any) -> dict[str, Any]:
    """Return a configuration with the search space of the default one, changed."""
    domains = {**DEFAULTS["protocol"]["tabular"]["search_space"], **changes}
    domains = {name: domain for name, domain in domains.items() if domain is not None}
    return {"protocol": {"tabular": {"search_space": domains}}}


def own(name: str = "mine", **keys: Any) -> dict[str, Any]:
    """Return a configuration with a table of the user's own."""
    return {"own_datasets": {name: {**TABLE, **keys}}}


def tabular(**keys: Any) -> dict[str, Any]:
    """Return a configuration that changes the protocol of tables."""
    return {"protocol": {"tabular": keys}}


GRID = [
    Case(
        "plan",
        "own.yaml: datsets: unknown key; valid: parts, experiment, datasets, searches",
        {"datsets": ["dna"]},
        real=True,
    ),
    Case(
        "plan", 'own.yaml: datasets.0: "mnist" is not valid; valid: dna, ', {"datasets": ["mnist"]}
    ),
    Case(
        "plan",
        'own.yaml: datasets.0: "../dna" is not valid; valid: a text that matches',
        {"datasets": ["../dna"]},
    ),
    Case(
        "plan",
        'own.yaml: datasets.0: "dna\\n" is not valid; valid: a text',
        {"datasets": ["dna\n"]},
    ),
    Case("plan", 'own.yaml: datasets.0: "-x" is not valid; valid: a text', {"datasets": ["-x"]}),
    Case("plan", 'own.yaml: datasets.0: "a b" is not valid; valid: a text', {"datasets": ["a b"]}),
    Case("plan", 'own.yaml: datasets.0: ".." is not valid; valid: a text', {"datasets": [".."]}),
    Case("plan", "own.yaml: datasets.0: null is not valid; valid: a text", {"datasets": [None]}),
    Case("plan", "own.yaml: datasets: [] is not valid; valid: a list with at", {"datasets": []}),
    Case("plan", "own.yaml: datasets: null is not valid; valid: a list", {"datasets": None}),
    Case("plan", 'own.yaml: experiment: "x\\n" is not valid; valid: a', {"experiment": "x\n"}),
    Case("plan", 'own.yaml: experiment: "../x" is not valid; valid: a', {"experiment": "../x"}),
    Case("plan", 'own.yaml: experiment: "/tmp/x" is not valid; valid: a', {"experiment": "/tmp/x"}),
    Case("plan", 'own.yaml: experiment: "-x" is not valid; valid: a text', {"experiment": "-x"}),
    Case("plan", 'own.yaml: experiment: "$(id)" is not valid; valid: a', {"experiment": "$(id)"}),
    Case("plan", 'own.yaml: experiment: "" is not valid; valid: a text', {"experiment": ""}),
    Case(
        "plan",
        "own.yaml: experiment: runs is the name of another folder in",
        {"experiment": "runs"},
    ),
    Case(
        "plan",
        'own.yaml: selectors.1: "grad" is not valid; valid: full, full-again',
        {"selectors": ["full", "grad"]},
    ),
    Case(
        "plan",
        'own.yaml: schedulers.0: "bohb" is not valid; valid: hyperb',
        {"schedulers": ["bohb"]},
    ),
    Case(
        "plan", 'own.yaml: searches.0: "bohb" is not valid; valid: random', {"searches": ["bohb"]}
    ),
    Case("plan", "own.yaml: searches: [] is not valid; valid: a list with", {"searches": []}),
    Case("plan", "own.yaml: schedulers: [] is not valid; valid: a list", {"schedulers": []}),
    Case("plan", "own.yaml: selectors: [] is not valid; valid: a list", {"selectors": []}),
    Case(
        "plan",
        "own.yaml: fractions.1: 1.5 is not valid; valid: number > 0 and <= 1",
        {"fractions": [0.1, 1.5]},
        real=True,
    ),
    Case("plan", "own.yaml: fractions.0: 0 is not valid; valid: number > 0", {"fractions": [0]}),
    Case("plan", "own.yaml: fractions.0: -0.1 is not valid; valid: number", {"fractions": [-0.1]}),
    Case("plan", "own.yaml: fractions.0: true is not valid; valid: number", {"fractions": [True]}),
    Case(
        "plan", 'own.yaml: fractions.0: "10%" is not valid; valid: number', {"fractions": ["10%"]}
    ),
    Case("plan", "own.yaml: seeds: [] is not valid; valid: a list", {"seeds": []}),
    Case("plan", "own.yaml: seeds: [1, 1] is not valid; valid: ...none twice", {"seeds": [1, 1]}),
    Case("plan", "own.yaml: seeds.0: -1 is not valid; valid: integer >= 0", {"seeds": [-1]}),
    Case("plan", 'own.yaml: seeds.0: "3" is not valid; valid: integer >= 0', {"seeds": ["3"]}),
    Case("plan", "own.yaml: untuned_seeds: [] is not valid; valid: a list", {"untuned_seeds": []}),
    Case(
        "plan", '...own.yaml: parts: "dna.yaml" is not valid; valid: a list', {"parts": "dna.yaml"}
    ),
    Case("plan", "...no-such.yaml: cannot be read: No such file", {"parts": ["no-such.yaml"]}),
    Case("plan", "...: parts: ...own.yaml has this file among its parts", {"parts": ["own.yaml"]}),
    Case("plan", "...: cannot be read: Is a directory", {"parts": ["."]}),
    Case("plan", "/etc/passwd: ", {"parts": ["/etc/passwd"]}),
    Case(
        "plan",
        "...two.yaml: datasets: dna is also in ...one.yaml",
        {"parts": ["one.yaml", "two.yaml"]},
        {"one.yaml": "datasets: [dna]\n", "two.yaml": "datasets: [dna]\n"},
    ),
    Case(
        "plan",
        "...own.yaml: datasets: letter is in none of the parts: dna",
        {"parts": ["one.yaml"], "datasets": ["letter"]},
        {"one.yaml": "datasets: [dna]\n"},
    ),
    Case(
        "plan",
        "...one.yaml: line 2, column 1: not YAML: ",
        {"parts": ["one.yaml"]},
        {"one.yaml": "datasets: [dna\n"},
    ),
    Case(
        "plan",
        "carbon: must be the same in all parts",
        {"parts": ["one.yaml", "two.yaml"]},
        {
            "one.yaml": "datasets: [dna]\n",
            "two.yaml": "datasets: [letter]\ncarbon: {grams_per_kwh: 432}\n",
        },
    ),
    Case(
        "plan",
        "ray.address: must be the same in all parts",
        {"parts": ["one.yaml", "two.yaml"]},
        {"one.yaml": "datasets: [dna]\n", "two.yaml": "datasets: [letter]\nray: {address: auto}\n"},
    ),
    Case("plan", "archives: none.tar.xz: no such file", {"archives": ["none.tar.xz"]}),
    Case("plan", "archives: old: no such file", {"archives": ["old"]}, {"old": folder}),
]

PROTOCOL = [
    Case(
        "plan",
        "own.yaml: protocol.tabular.epoch: unknown key; valid: model, configurations, epochs",
        tabular(epoch=3),
    ),
    Case(
        "plan",
        "own.yaml: protocol.tabular.epochs: 0 is not valid; valid: integer > 0",
        tabular(epochs=0),
        real=True,
    ),
    Case(
        "plan",
        'own.yaml: protocol.tabular.epochs: "many" is not valid; valid: integer > 0',
        tabular(epochs="many"),
    ),
    Case("plan", "own.yaml: protocol.tabular.epochs: null is not valid", tabular(epochs=None)),
    Case("plan", "own.yaml: protocol.tabular.epochs: true is not valid", tabular(epochs=True)),
    Case(
        "plan",
        "...smoke.yaml: datasets.0: dna needs the section protocol.tabular",
        {"protocol": {"tabular": None}},
    ),
    Case("plan", "own.yaml: protocol: null is not valid", {"protocol": None}),
    Case(
        "plan",
        "own.yaml: protocol.tabular.model: lstm is for text data; valid: mlp",
        tabular(model="lstm"),
    ),
    Case(
        "plan",
        'own.yaml: protocol.tabular.model: "mpl" is not valid; valid: mlp, lstm',
        tabular(model="mpl"),
    ),
    Case("plan", "own.yaml: protocol.tabular.model: null is not valid", tabular(model=None)),
    Case("plan", "own.yaml: protocol.tabular.model.factory: missing", tabular(model={"width": 3})),
    Case(
        "plan",
        'own.yaml: protocol.tabular.model.factory: "my_nets.build" is not valid; valid: a text',
        tabular(model={"factory": "my_nets.build"}),
    ),
    Case(
        "plan",
        'own.yaml: protocol.tabular.model.factory: "os:system(1)" is not valid; valid: a text',
        tabular(model={"factory": "os:system(1)"}),
    ),
    Case(
        "plan",
        'own.yaml: protocol.tabular.model.factory: "../x:b" is not valid; valid: a text',
        tabular(model={"factory": "../x:b"}),
    ),
    Case(
        "plan",
        'own.yaml: protocol.tabular.model.factory: "a:b\\n" is not valid; valid: a text',
        tabular(model={"factory": "a:b\n"}),
    ),
    Case(
        "plan",
        "own.yaml: protocol.tabular.search_space.hidden2: missing; model mlp needs it",
        space(hidden2=None),
    ),
    Case(
        "plan",
        "own.yaml: protocol.tabular.search_space.learning_rate: missing",
        space(learning_rate=None),
    ),
    Case(
        "plan",
        "own.yaml: protocol.tabular.batch_size: missing, here and in search_space",
        space(batch_size=None),
    ),
    Case(
        "plan",
        "own.yaml: protocol.tabular.search_space.hidden3: unknown to model mlp; valid:",
        space(hidden3={"choice": [1]}),
    ),
    Case(
        "plan",
        "own.yaml: protocol.tabular.search_space.learning_rate: missing",
        tabular(search_space={}),
    ),
    Case(
        "plan", "own.yaml: protocol.tabular.search_space: null is not", tabular(search_space=None)
    ),
    Case(
        "plan",
        "own.yaml: protocol.tabular.search_space.hidden1: 300 is not valid",
        space(hidden1=300),
    ),
    Case(
        "plan",
        "own.yaml: protocol.tabular.search_space.hidden1: needs exactly one of uniform",
        space(hidden1={}),
    ),
    Case(
        "plan",
        "own.yaml: protocol.tabular.search_space.hidden1: needs exactly one of ...has randint, c",
        space(hidden1={"choice": [1], "randint": [1, 2]}),
    ),
    Case(
        "plan",
        "own.yaml: ...search_space.learning_rate.unifrom: unknown key; valid: uniform, loguniform",
        space(learning_rate={"unifrom": [1, 2]}),
    ),
    Case(
        "plan",
        'own.yaml: ...search_space.optimizer.choice.1: "adm" is not valid; valid: adam, sgd',
        space(optimizer={"choice": ["sgd", "adm"]}),
    ),
    Case(
        "plan",
        "own.yaml: ...search_space.batch_size: uniform draws no integer > 0; valid: choice, randint",
        space(batch_size={"uniform": [16, 64]}),
    ),
    Case(
        "plan",
        "own.yaml: ...search_space.batch_size.choice.0: 0 is not valid; valid: integer > 0",
        space(batch_size={"choice": [0]}),
    ),
    Case(
        "plan",
        "own.yaml: ...search_space.hidden1.choice: [] is not valid; valid: a list",
        space(hidden1={"choice": []}),
    ),
    Case(
        "plan",
        "own.yaml: ...search_space.hidden1: has a choice twice",
        space(hidden1={"choice": [8, 8]}),
    ),
    Case(
        "plan",
        "own.yaml: protocol.tabular.search_space.learning_rate: uniform: 1 is not below 0.1",
        space(learning_rate={"uniform": [1, 0.1]}),
    ),
    Case(
        "plan",
        "own.yaml: ...learning_rate.uniform: [0.1] is not valid; valid: a list of 2 values",
        space(learning_rate={"uniform": [0.1]}),
    ),
    Case(
        "plan",
        "own.yaml: ...learning_rate.uniform.0: -1 is not valid; valid: number > 0",
        space(learning_rate={"uniform": [-1, 1]}),
    ),
    Case(
        "plan",
        "own.yaml: ...learning_rate.loguniform.0: 0 is not valid; valid: number > 0",
        space(learning_rate={"loguniform": [0, 1]}),
    ),
    Case(
        "plan",
        "own.yaml: ...learning_rate: quniform: 0.25 is no multiple of the step 0.1",
        space(learning_rate={"quniform": [0.1, 0.25, 0.1]}),
    ),
    Case(
        "plan",
        "own.yaml: ...hidden1.randint.0: 1.5 is not valid; valid: integer",
        space(hidden1={"randint": [1.5, 3]}),
    ),
    Case(
        "plan",
        'own.yaml: protocol.tabular.for_search: "bohb" is not valid; valid: random, tpe',
        tabular(for_search={"bohb": {"configurations": 3}}),
    ),
    Case(
        "plan",
        "own.yaml: protocol.tabular.for_search.tpe.configuration: unknown key; valid: configurations",
        tabular(for_search={"tpe": {"configuration": 3}}),
    ),
    Case(
        "plan",
        "own.yaml: protocol.tabular.nesterov: needs a momentum > 0",
        space(nesterov={"choice": [True, False]}),
    ),
    Case(
        "plan",
        "own.yaml: protocol.tabular.augmentation: is for images",
        tabular(augmentation={"flip": True}),
    ),
]

MACHINE = [
    Case(
        "plan",
        'own.yaml: job.partition: "gpu; rm -r ." is not valid; valid: a text that matches',
        {"job": {"partition": "gpu; rm -r ."}},
    ),
    Case(
        "plan",
        'own.yaml: job.minutes: "1h" is not valid; valid: integer > 0',
        {"job": {"minutes": "1h"}},
    ),
    Case(
        "plan",
        "own.yaml: job.gpu_type: needs job.gpus to be 1 or more",
        {"job": {"gpu_type": "a100"}},
    ),
    Case(
        "plan",
        'own.yaml: ray.address: "head:6379; reboot" is not valid; valid: a text that matches',
        {"ray": {"address": "head:6379; reboot"}},
    ),
    Case(
        "plan",
        'own.yaml: ray.address: "ray://head:10001" is not',
        {"ray": {"address": "ray://head:10001"}},
    ),
    Case(
        "plan",
        'own.yaml: compute.device: "gpu" is not valid; valid: auto',
        {"compute": {"device": "gpu"}},
    ),
    Case("plan", "own.yaml: compute: null is not valid; valid: ", {"compute": None}),
    Case(
        "plan",
        "own.yaml: carbon.grams_per_kwh: null is not valid",
        {"carbon": {"grams_per_kwh": None}},
    ),
    Case(
        "plan",
        'own.yaml: carbon.region: "" is not valid; valid: a text that is not empty',
        {"carbon": {"region": ""}},
    ),
]

OWN = [
    Case("plan", 'own.yaml: own_datasets: "a; id" is not valid; valid: a text', own("a; id")),
    Case("plan", 'own.yaml: own_datasets: "../a" is not valid; valid: a text', own("../a")),
    Case("plan", 'own.yaml: own_datasets: "-a" is not valid; valid: a text', own("-a")),
    Case("plan", 'own.yaml: own_datasets: "a\\n" is not valid; valid: a text', own("a\n")),
    Case("plan", 'own.yaml: own_datasets: "" is not valid; valid: a text', own("")),
    Case(
        "plan",
        'own.yaml: own_datasets: "../a" is not valid; valid: ',
        {"own_datasets": {"../a": 5}},
    ),
    Case("plan", "own.yaml: own_datasets.dna: is the name of a data set that", own("dna")),
    Case("plan", "own.yaml: own_datasets.all: is what tables call all data sets", own("all")),
    Case(
        "plan", "own.yaml: own_datasets.mine: null is not valid", {"own_datasets": {"mine": None}}
    ),
    Case(
        "plan",
        "own.yaml: own_datasets.mine.kind: missing",
        {"own_datasets": {"mine": {"path": "a.csv"}}},
    ),
    Case(
        "plan",
        'own.yaml: own_datasets.mine.kind: "table" is not valid; valid: tabular, text, image',
        own(kind="table"),
    ),
    Case(
        "plan",
        "own.yaml: own_datasets.mine.target: missing",
        {"own_datasets": {"mine": {"kind": "tabular", "path": "mine.csv"}}},
    ),
    Case(
        "plan",
        "own.yaml: own_datasets.mine.text: missing",
        {"own_datasets": {"mine": {"kind": "text", "path": "mine.csv", "target": "y"}}},
    ),
    Case(
        "plan",
        "own.yaml: own_datasets.mine.target: unknown key; valid: kind, path, validation, test",
        {"own_datasets": {"mine": {"kind": "image", "path": "my.npz", "target": "label"}}},
    ),
    Case(
        "plan",
        'own.yaml: own_datasets.mine.separator: ";;" is not valid; valid: a text that matches',
        own(separator=";;"),
    ),
    Case(
        "plan", 'own.yaml: own_datasets.mine.separator: "\\u00a7" is not', own(separator="\u00a7")
    ),
    Case(
        "plan",
        'own.yaml: own_datasets.mine.decimal: ";" is not valid; valid: a text that matches ^[.,]',
        own(decimal=";"),
    ),
    Case(
        "plan", 'own.yaml: own_datasets.mine.encoding: "" is not valid; valid: a', own(encoding="")
    ),
    Case(
        "plan", 'own.yaml: own_datasets.mine.drop: "id" is not valid; valid: a list', own(drop="id")
    ),
    Case("plan", 'own.yaml: own_datasets.mine.drop.0: "" is not valid; valid: a', own(drop=[""])),
    Case("plan", "own.yaml: own_datasets.mine.fill.x: true is not valid", own(fill={"x": True})),
    Case("plan", 'own.yaml: own_datasets.mine.path: "" is not valid; valid: a', own(path="")),
]

CASES = [*GRID, *PROTOCOL, *MACHINE, *OWN]
