"""Damaged inputs: one line refuses each and names it, or it gives what the good one gives.

$AUTOMATA_INPUTS is their number, $AUTOMATA_INPUTS_SEED decides the damage of each.
"""

import os
import random
import shutil
from contextlib import chdir, contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
import yaml
from PIL import Image

from automata.config.data import Preparation
from automata.config.files import read_experiments
from automata.config.job import Job
from automata.datasets.prepare import prepare
from automata.datasets.prepared import read_dataset, write_dataset
from automata.errors import UserError
from automata.experiment.grid import Grid
from automata.prediction.predict import load
from automata.prediction.saved import read_encoding
from automata.records.archive import pack, unpack
from automata.records.record import read_record, sealed, write_record
from automata.tuning import job as job_module
from automata.tuning.job import keep_model, run
from automata.tuning.live import LivePhase
from support.searching import make_job, train_here

COUNT = int(os.environ.get("AUTOMATA_INPUTS", "30"))
SEED = os.environ.get("AUTOMATA_INPUTS_SEED", "0")
CONFIG = Path(__file__).parents[2] / "config"
RUN = Path("mine/random-none-0123abcd/full-1/seed-0")
MINE = {"kind": "tabular", "path": "mine.csv", "target": "y"}
PETS = {"kind": "image", "path": "pets"}
NAMES = {"dataset": "mine", "scheduler": "none", "selector": "full"}
CONTENT = make_job(run=NAMES, configurations=3, epochs=4).model_dump()
CONTENT["settings"]["data"]["own"] = MINE
JOB = Job.model_validate(CONTENT)


def prepared(own):
    return prepare("mine", Preparation.model_validate({"own": own}), Path())


def configured():
    """Return the runs of `own.yaml`, on top of the smoke configuration."""
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


KINDS = {
    "own.yaml": configured,
    "mine.csv": lambda: content(prepared(MINE)),
    "pets/*/*.png": lambda: content(prepared(PETS)),
    "mine.safetensors*": lambda: content(read_dataset(Path("mine.safetensors"))),
    "mine.encoding.json": lambda: read_encoding(Path("mine.encoding.json")),
    "mine/**/record.json": lambda: read_record(RUN / "record.json"),
    "records.tar.xz": unpacked,
    "mine/**/model.safetensors": lambda: load(RUN).table(Path("mine.csv")).values.tolist(),
    "work/**/*": resumed,
}
"""Pattern of files -> the function that reads them, and returns all that counts."""
LEGAL = {"own.yaml", "mine.csv", ("pets/*/*.png", "removed")}
"""What may be another good input, such as a table with another number, or one image less."""


def flipped(text, chance):
    byte = chance.randrange(len(text))
    other = bytes([text[byte] ^ 1 << chance.randrange(8)])
    return text[:byte] + other + text[byte + 1 :]


def doubled(text, chance):
    begin, end = sorted(chance.choices(range(len(text) + 1), k=2))
    return text[:end] + text[begin:]


DAMAGES = {
    "cut off": lambda text, chance: text[: chance.randrange(len(text))],
    "a bit flipped": flipped,
    "a part doubled": doubled,
    "empty": lambda text, chance: b"",
    "removed": lambda text, chance: None,
}


@contextmanager
def working_in(folder):
    """Work in `folder`, where searches need no Ray."""
    with chdir(folder), patch.object(job_module, "train_in_ray", train_here):
        yield


report = LivePhase.report


def report_two(live, index, progress, saved):
    """Let a search end before its third result."""
    if len(live.search.results) == 2:
        raise KeyboardInterrupt
    report(live, index, progress, saved)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A folder with a good input of each kind; the job in `work` was interrupted."""
    folder = tmp_path_factory.mktemp("good")
    with working_in(folder):
        rows = "".join(f"{n % 7},{'sand' if n % 3 else 'clay'},{n % 2}\n" for n in range(40))
        Path("mine.csv").write_text(f"size,soil,y\n{rows}")
        noise = np.random.default_rng(0).integers(0, 256, (10, 8, 8, 3), np.uint8)
        for number, pixels in enumerate(noise):
            image = Path(f"pets/{('cat', 'dog')[number % 2]}/{number}.png")
            image.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels).save(image)
        config = {"datasets": ["mine"], "own_datasets": {"mine": MINE}, "seeds": [0, 1]}
        Path("own.yaml").write_text(yaml.safe_dump({**config, "carbon": {"pue": 1.2}}))
        dataset, data = prepared(MINE), Path("mine.safetensors")
        write_dataset(dataset, data)
        Path("mine.encoding.json").write_text(sealed(dataset.encoding))
        record, model = run(JOB, data, Path("finished"))
        shutil.rmtree("finished")
        RUN.mkdir(parents=True)
        write_record(record, RUN / "record.json")
        keep_model(RUN / "model.safetensors", record, dataset, dataset.encoding, model)
        pack([RUN / "record.json"], Path("records.tar.xz"))
        interrupted = patch.object(LivePhase, "report", report_two)
        with interrupted, pytest.raises(KeyboardInterrupt):
            run(JOB, data, Path("work"))
    return folder


@pytest.fixture(scope="module")
def outcomes(good, tmp_path_factory):
    """The outcomes of the good inputs, by pattern."""
    twin = tmp_path_factory.mktemp("twin")
    shutil.copytree(good, twin, dirs_exist_ok=True)
    with working_in(twin):
        return {files: use() for files, use in KINDS.items()}


@pytest.fixture
def folder(good, tmp_path):
    """A copy of the good inputs, where the test works."""
    shutil.copytree(good, tmp_path, dirs_exist_ok=True)
    with working_in(tmp_path):
        yield


@pytest.mark.parametrize("number", range(COUNT))
@pytest.mark.usefixtures("folder")
def test_damaged_input_is_refused_by_one_line_or_changes_nothing(number, outcomes):
    files = list(KINDS)[number % len(KINDS)]
    chance = random.Random(f"{SEED} {number}")
    file = chance.choice(sorted(path for path in Path().glob(files) if path.is_file()))
    damage = chance.choice(list(DAMAGES))
    damaged = DAMAGES[damage](file.read_bytes(), chance)
    file.unlink() if damaged is None else file.write_bytes(damaged)
    refusals = (UserError, *[FileNotFoundError] * (damaged is None))
    try:
        found = KINDS[files]()
    except refusals as error:
        line = str(error)
        assert "\n" not in line
        assert len(line) <= 450
        named = (str(file), file.name, "own_datasets.mine.path")  # a missing file, by its key
        assert any(name in line for name in named), (damage, line)
    else:
        assert LEGAL & {files, (files, damage)} or found == outcomes[files], f"{damage} in {file}"
