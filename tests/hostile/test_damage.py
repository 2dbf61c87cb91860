"""Damaged inputs: one line refuses each and names it, or it gives what the good one gives.

$AUTOMATA_INPUTS is their number, $AUTOMATA_INPUTS_SEED decides the damage of each.
"""

import os
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image

from automata.config.data import Preparation
from automata.config.files import read_experiments
from automata.config.job import Job, Run
from automata.datasets.prepare import prepare
from automata.datasets.prepared import read_dataset, write_dataset
from automata.errors import UserError
from automata.grid import Grid
from automata.prediction.predict import predict
from automata.records import read_record, write_record
from automata.runs import pack, unpack
from automata.tuning import job as job_module
from automata.tuning.job import keep_model, run
from automata.tuning.live import LiveSearch
from support.searching import search_here

CONFIG = Path(__file__).parents[2] / "config"
COUNT = int(os.environ.get("AUTOMATA_INPUTS", "30"))
SEED = os.environ.get("AUTOMATA_INPUTS_SEED", "0")
RUN = "mine/random-none-0123abcd/full-1/seed-0"
MINE = {"kind": "tabular", "path": "mine.csv", "target": "y"}
PETS = {"kind": "image", "path": "pets"}
PROTOCOL = {
    "model": "mlp",
    "configurations": 3,
    "epochs": 4,
    "reselect_every": 2,
    "search_space": {
        "learning_rate": {"uniform": [0.001, 0.01]},
        "optimizer": {"choice": ["adam"]},
        "schedule": {"choice": ["none"]},
        "hidden1": {"choice": [4]},
        "hidden2": {"choice": [4]},
        "batch_size": {"choice": [8]},
    },
}
JOB = Job.model_validate(
    {
        "run": dict(zip(Run.model_fields, ("mine", "random", "none", "full", 1, 0), strict=True)),
        "settings": {
            "protocol": PROTOCOL,
            "data": {"own": MINE},
            "compute": {"device": "cpu"},
            "metering": {"exclusive": False},
        },
    }
)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Give a folder with a good input of each kind; the job in `work` was interrupted."""
    folder = tmp_path_factory.mktemp("good")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(job_module, "search_in_ray", search_here)
        rows = "".join(f"{n % 7},{'sand' if n % 3 else 'clay'},{n % 2}\n" for n in range(40))
        Path("mine.csv").write_text(f"size,soil,y\n{rows}")
        noise = np.random.default_rng(0).integers(0, 256, (10, 8, 8, 3), np.uint8)
        for number, pixels in enumerate(noise):
            image = Path(f"pets/{('cat', 'dog')[number % 2]}/{number}.png")
            image.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels).save(image)
        config = {"datasets": ["mine"], "own_datasets": {"mine": MINE}, "seeds": [0, 1]}
        Path("own.yaml").write_text(yaml.safe_dump({**config, "carbon": {"pue": 1.2}}))
        dataset = prepared(MINE)
        write_dataset(dataset, Path("mine.safetensors"))
        record, model = run(JOB, Path("mine.safetensors"), Path("finished"))
        shutil.rmtree("finished")
        (folder / RUN).mkdir(parents=True)
        write_record(record, Path(RUN, "record.json"))
        keep_model(Path(RUN, "model.safetensors"), record, dataset, dataset.encoding, model)
        pack([Path(RUN, "record.json")], Path("records.tar.xz"))
        interrupt(patch)
        with pytest.raises(KeyboardInterrupt):
            run(JOB, Path("mine.safetensors"), Path("work"))
    return folder


@pytest.fixture(scope="module")
def outcomes(good, tmp_path_factory):
    """Give what the good inputs give, by kind."""
    twin = tmp_path_factory.mktemp("twin")
    shutil.copytree(good, twin, dirs_exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(twin)
        patch.setattr(job_module, "search_in_ray", search_here)
        return {name: kind.use() for name, kind in KINDS.items()}


def interrupt(patch):
    """Let a search end before its third result."""
    report = LiveSearch.report

    def report_two(live, index, progress):
        if len(live.log.results) == 2:
            raise KeyboardInterrupt
        report(live, index, progress)

    patch.setattr(LiveSearch, "report", report_two)


def prepared(own):
    return prepare("mine", Preparation.model_validate({"own": own}), Path())


def configured():
    parts = read_experiments([CONFIG / "config.yaml", CONFIG / "smoke.yaml", Path("own.yaml")])
    return list(Grid(parts, ["."]).records)


def content(dataset):
    """Return all that training reads of a data set."""
    splits = [getattr(dataset, name) for name in ("train", "validation", "test")]
    return [(split.inputs.tolist(), split.labels.tolist()) for split in splits]


def unpacked():
    unpack([Path("records.tar.xz")], Path("unpacked"))
    return {path.read_bytes() for path in Path("unpacked").rglob("record.json")}


def resumed():
    record, _ = run(JOB, Path("mine.safetensors"), Path("work"))
    trials = [(trial.configuration, trial.score) for trial in record.tuning.trials]
    return trials, record.tuning.best, record.test.loss


@dataclass(frozen=True)
class Kind:
    """A kind of input."""

    files: str
    """Pattern of the files, one of which is damaged."""
    use: Callable[[], object]
    """Reads the input, and returns all that counts of it."""
    legal: bool = False
    """Whether a damaged file may be another good one, such as a table with another number."""


KINDS = {
    "configuration": Kind("own.yaml", configured, legal=True),
    "table": Kind("mine.csv", lambda: content(prepared(MINE)), legal=True),
    "image": Kind("pets/*/*.png", lambda: content(prepared(PETS))),
    "prepared": Kind("mine.safetensors", lambda: content(read_dataset(Path("mine.safetensors")))),
    "record": Kind("mine/**/record.json", lambda: read_record(Path(RUN, "record.json"))),
    "archive": Kind("records.tar.xz", unpacked),
    "model": Kind(
        "mine/**/model.safetensors", lambda: predict(Path(RUN), Path("mine.csv")).values.tolist()
    ),
    "work": Kind("work/**/*", resumed),
}


def cut(text, chance):
    return text[: chance.randrange(len(text))]


def flipped(text, chance):
    byte = chance.randrange(len(text))
    other = bytes([text[byte] ^ 1 << chance.randrange(8)])
    return text[:byte] + other + text[byte + 1 :]


def zeroed(text, chance):
    begin, size = chance.randrange(len(text)), chance.randrange(1, 64)
    return text[:begin] + bytes(len(text[begin : begin + size])) + text[begin + size :]


def doubled(text, chance):
    begin, end = sorted(chance.choices(range(len(text) + 1), k=2))
    return text[:end] + text[begin:]


def emptied(text, chance):
    return b""


WRONG = (None, -1, "x", [], {}, 1e300, True, float("nan"), ["dna", "dna"], "2024-01-01")


def wrong_value(text, chance):
    """Give one key of a configuration another value, or one that is unknown."""
    config = yaml.safe_load(text)
    section = config
    while (
        isinstance(section[key := chance.choice(sorted(section))], dict) and chance.random() < 0.8
    ):
        section = section[key]
    section[chance.choice([key, key, f"{key}s"])] = chance.choice(WRONG)
    return yaml.safe_dump(config).encode()


DAMAGES = (cut, flipped, zeroed, doubled, emptied)


@pytest.mark.parametrize("number", range(COUNT))
def test_damaged_input_is_refused_by_one_line_or_changes_nothing(
    number, good, outcomes, tmp_path, monkeypatch
):
    name = list(KINDS)[number % len(KINDS)]
    kind, chance = KINDS[name], random.Random(f"{SEED} {number}")
    shutil.copytree(good, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(job_module, "search_in_ray", search_here)
    file = chance.choice(sorted(path for path in Path().glob(kind.files) if path.is_file()))
    damage = chance.choice([*DAMAGES, *[wrong_value] * (5 * (name == "configuration"))])
    file.write_bytes(damage(file.read_bytes(), chance))
    try:
        found = kind.use()
    except UserError as error:
        line = str(error)
        assert "\n" not in line
        assert len(line) <= 450
        assert str(file) in line or file.name in line, (damage.__name__, line)
    else:
        assert kind.legal or found == outcomes[name], f"{damage.__name__} in {file}"
