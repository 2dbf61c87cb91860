"""An experiment: values that its schema refuses, and rules about several keys."""

import re

import pytest
import yaml

from automata.config import files
from automata.config.data import GLOVE
from automata.config.experiment import Experiment
from automata.config.files import DEFAULTS, read_experiments
from automata.config.spaces import Domain
from automata.errors import UserError

SHIPPED = files.read(DEFAULTS)
SCHEMA = Experiment.model_json_schema()
TABLE = {"kind": "tabular", "path": "mine.csv", "target": "y"}
INITIAL = yaml.safe_load(
    "{learning_rate: 0.5, optimizer: adam, schedule: none, hidden1: 9, hidden2: 9, batch_size: 16}"
)
FEW = yaml.safe_load(
    "{learning_rate: {choice: [0.1, 0.2]}, hidden1: {randint: [5, 7]}, hidden2: {choice: [10]},"
    " batch_size: {choice: [16]}, optimizer: null, schedule: null}"
)
NESTEROV = {"nesterov": {"choice": [True, False]}}


@pytest.fixture(autouse=True)
def _read_and_described_once(monkeypatch):
    monkeypatch.setattr(files, "read", lambda file: SHIPPED)
    monkeypatch.setattr(Experiment, "model_json_schema", lambda: SCHEMA)


def refusal(changes):
    """Return the line about the defaults with changes, without its file; None if they are valid."""
    try:
        read_experiments([DEFAULTS], changes)
    except UserError as error:
        return str(error).partition(": ")[2]
    return None


def alternatives(schema):
    """Return the schemas of which a value needs one, without references."""
    return [
        SCHEMA["$defs"][one["$ref"].rpartition("/")[2]] if "$ref" in one else one
        for one in schema.get("anyOf", [schema])
        if one.get("type") != "null" or "anyOf" not in schema
    ]


def wrong_values(schema):
    """Yield values that a schema refuses, each with what the message must say about valid ones."""
    kind = schema.get("type")
    if "const" in schema:
        return
    words = {"object": "a section of keys", "array": "a list", "string": "a text"}
    valid = ", ".join(schema["enum"]) if "enum" in schema else words.get(kind, kind)
    yield {"string": 7, "boolean": 1, "integer": 1.5}.get(kind, "1"), valid
    if "enum" in schema:
        yield "other", valid
    if "pattern" in schema:
        yield "\n", schema["pattern"]
    if "minLength" in schema:
        yield "", "not empty"
    if "minItems" in schema and "prefixItems" not in schema:
        yield [], "at least one value"
    if kind in ("integer", "number"):
        yield True, kind
    steps = {"minimum": -1, "exclusiveMinimum": 0, "maximum": 1, "exclusiveMaximum": 0}
    for bound in steps.keys() & schema.keys():
        yield schema[bound] + steps[bound], str(schema[bound])


def mistakes(schema, *path, **others):
    """Yield the path of each key in a section, changes that make it wrong, and what is valid."""
    keys = {name: alternatives(key) for name, key in schema["properties"].items()}
    wrong = {name: list(wrong_values(types[0])) for name, types in keys.items() if len(types) == 1}
    for name, values in {"other": [(1, ", ".join(keys))], **wrong}.items():
        for value, valid in values:
            changes = {**others, name: value}
            for section in reversed(path):
                changes = {section: changes}
            yield ".".join([*path, name]), changes, valid
    for name, types in keys.items():
        if "properties" in types[0]:
            yield from mistakes(types[0], *path, name)


def test_each_key_refuses_other_types_and_values_beyond_its_bounds_in_one_line():
    found = list(mistakes(SCHEMA))
    for kind in ("Tabular", "Text", "Image"):
        schema = SCHEMA["$defs"][f"Own{kind}"]
        usual = {name: kind.lower() for name in schema["required"]}
        found += mistakes(schema, "own_datasets", "mine", **usual)
    path = "protocol", "tabular", "search_space", "hidden1"
    found += mistakes(SCHEMA["$defs"]["Domain"], *path)
    assert len(found) > 250
    lines = [(path, valid, refusal(changes)) for path, changes, valid in found]
    assert [
        (path, valid, line)
        for path, valid, line in lines
        if not re.fullmatch(f"{re.escape(path)}: .*; valid: .*{re.escape(valid)}.*", line or "")
    ] == []


def tabular(line="", **keys):
    """Return the line about a wrong protocol of tables, and the protocol."""
    return f"protocol.tabular.{line}", {"protocol": {"tabular": keys}}


def space(line="", **domains):
    return tabular(f"search_space.{line}", search_space=domains)


def image(line="", **domains):
    return f"protocol.image.{line}", {"protocol": {"image": {"search_space": domains}}}


def initial(line="", *configurations):
    return f"search.initial{line}", {"search": {"initial": list(configurations)}}


def own(line, name="mine", **keys):
    return f"own_datasets{line}", {"own_datasets": {name: keys}}


RUNGS = "... is not valid; valid: shares of T, > 0 and <= 1, with falling counts"
GLOVE_128 = {"source": GLOVE, "dimension": 128}
NO_MOMENTUM = "nesterov: needs a momentum > 0"
REFUSED = [
    ("seeds: [1, 1] is not valid; valid: ...none twice: integer >= 0", {"seeds": [1, 1]}),
    ("seeds: with the other axes 24,010 runs, of at most 20,000", {"seeds": [*range(1000)]}),
    ("fractions.0: NaN is not valid; valid: number > 0 and", {"fractions": [float("nan")]}),
    ('experiment: "xxx...x... (302 characters) is not valid', {"experiment": "x" * 300}),
    ("experiment: runs is the name of another folder in results/", {"experiment": "runs"}),
    ('datasets.0: "mnist" is not valid; valid: dna, ..., or one of own', {"datasets": ["mnist"]}),
    ('searches.0: "bohb" is not valid; valid: random, ', {"searches": ["bohb"]}),
    ('schedulers.0: "pbt" is not valid; valid: hyperband, ', {"schedulers": ["pbt"]}),
    ('selectors.0: "grad" is not valid; valid: full, ', {"selectors": ["grad"]}),
    (
        "schedulers.1: one-epoch trains on all data, and needs full or full-again or untuned",
        {"schedulers": ["asha", "one-epoch"], "selectors": ["rs2"]},
    ),
    ("data.vectors.dimension: 128 is not valid; valid: 50 or", {"data": {"vectors": GLOVE_128}}),
    ("own_searches.tpe: the project has this name", {"own_searches": {"tpe": "a:b"}}),
    ("job.gpu_type: needs job.gpus to be 1 or more", {"job": {"gpu_type": "a100"}}),
    ("datasets.0: satimage needs the section protocol.tabular", {"protocol": {"tabular": None}}),
    own(': "../a" is not valid; valid: a text that matches', "../a", **TABLE),
    own(".dna: the project has this name; choose another", "dna", **TABLE),
    own(".mine.kind: missing", path="a.csv"),
    own('.mine.kind: "table" is not valid; valid: tabular, text, image', kind="table"),
    tabular(
        'model: "mpl" is not valid; valid: mlp, lstm, convnet, resnet18, resnet50 or a', model="mpl"
    ),
    tabular("model: lstm is for text data; valid: mlp", model="lstm"),
    tabular("configurations: 1000000000 is ...integer > 0 and <= 10000", configurations=10**9),
    tabular("augmentation: is for images", augmentation={"flip": True}),
    tabular('for_search: "grid" is not valid; ', for_search={"grid": {}}),
    tabular("horizon_exponent: [0, 2] is not ...>= 0 and <= 1 or a list", horizon_exponent=[0, 2]),
    tabular('finalist_rungs: "half" is not ... matches ^[0-9]', finalist_rungs={"half": 1}),
    tabular(f"finalist_rungs: {RUNGS}", finalist_rungs={}),
    tabular(f"finalist_rungs: {RUNGS}", finalist_rungs={0: 1}),
    tabular(f"finalist_rungs: {RUNGS}", finalist_rungs={1.5: 1}),
    tabular(f"finalist_rungs: {RUNGS}", finalist_rungs={0.1: 2, 0.5: 2}),
    space("hidden1: uniform: 1 is not below 1", hidden1={"uniform": [1, 1]}),
    space("hidden1: a choice is repeated", hidden1={"choice": [1, 2, 1.0]}),
    space("hidden1: needs exactly one of uniform, loguniform, ..., has none", hidden1={}),
    space("learning_rate.uniform: ...a list of 2 values", learning_rate={"uniform": [0.1]}),
    space(
        "batch_size: uniform draws no integer > 0; valid: choice", batch_size={"uniform": [1, 6]}
    ),
    space("learning_rate: missing", learning_rate=None),
    space("hidden2: missing; model mlp needs it", hidden2=None),
    space("hidden3: unknown to model mlp; valid: ...hidden1, hidden2", hidden3={"choice": [1]}),
    tabular("batch_size: missing, here and in search_space", search_space={"batch_size": None}),
    tabular("configurations: 27 is more than the 4 of search_space", search_space=FEW),
    tabular("screen_metric: mcc is measured only if it is the metric", screen_metric="mcc"),
    tabular(NO_MOMENTUM, search_space={**NESTEROV, "momentum": {"choice": [0, 0.9]}}),
    tabular(
        "for_search.tpe.search_space.hidden1.choice.0: 1.5 is not valid",
        for_search={"tpe": {"search_space": {"hidden1": {"choice": [1.5]}}}},
    ),
    image("search_space.learning_rate: missing (or all of lr1, lr2, lr3, lr4)", lr4=None),
    image(
        "search_space.learning_rate: has no effect beside all of lr1, lr2, lr3, lr4; remove it, or",
        learning_rate={"uniform": [0.1, 0.2]},
    ),
    initial(": 28 are more than the 27 configurations of a search", *28 * [INITIAL]),
    initial(".1.hidden1: 0 is not valid; valid: integer", INITIAL, {**INITIAL, "hidden1": 0}),
    initial(".0.batch_size: missing; search_space has it", {"learning_rate": 0.5}),
    initial(".0.width: is not in search_space; valid: learning_rate, ", {**INITIAL, "width": 3}),
]


@pytest.mark.parametrize(("line", "changes"), REFUSED, ids=[line for line, _ in REFUSED])
def test_a_value_that_does_not_suit_the_others_is_refused_in_one_line(line, changes):
    assert re.match(".*".join(map(re.escape, line.split("..."))), refusal(changes) or "")


def test_balanced_accuracy_weighs_the_classes_unless_the_user_says_otherwise():
    def weights(**protocol):
        (experiment,) = read_experiments([DEFAULTS], tabular(**protocol)[1])
        return experiment.protocol_of("dna").under("tpe").class_weights

    assert weights() == "none"
    assert weights(metric="balanced_accuracy") == "balanced"
    assert weights(metric="balanced_accuracy", class_weights="none") == "none"


def test_a_domain_keeps_the_types_of_its_values_in_json():
    domain = Domain.model_validate_json(Domain(choice=[True, 2, 3.0, "one"]).model_dump_json())
    assert list(map(repr, domain.draw[1])) == ["True", "2", "3.0", "'one'"]
