"""Damaged inputs: one line refuses each and names it, or it gives what the good one gives.

$AUTOMATA_INPUTS is their number, $AUTOMATA_INPUTS_SEED decides the damage of each.
"""

import os
import random
import shutil
from pathlib import Path

import pytest

from automata.datasets.prepared import read_dataset
from automata.errors import UserError
from automata.prediction.predict import load
from automata.records.archive import unpack
from automata.records.record import read_record
from automata.tuning import job as job_module
from automata.tuning.job import run
from support.searching import train_here

from .conftest import JOB, MINE, RUN, configured, prepared

COUNT = int(os.environ.get("AUTOMATA_INPUTS", "30"))
SEED = os.environ.get("AUTOMATA_INPUTS_SEED", "0")
PETS = {"kind": "image", "path": "pets"}


@pytest.fixture(scope="module")
def outcomes(good, tmp_path_factory):
    """The outcomes of the good inputs, by pattern."""
    twin = tmp_path_factory.mktemp("twin")
    shutil.copytree(good, twin, dirs_exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(twin)
        patch.setattr(job_module, "train_in_ray", train_here)
        return {files: use() for files, use in KINDS.items()}


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
    "mine.safetensors": lambda: content(read_dataset(Path("mine.safetensors"))),
    "mine/**/record.json": lambda: read_record(RUN / "record.json"),
    "records.tar.xz": unpacked,
    "mine/**/model.safetensors": lambda: load(RUN).table(Path("mine.csv")).values.tolist(),
    "work/**/*": resumed,
}
"""Pattern of files -> the function that reads them, and returns all that counts."""
LEGAL = ("own.yaml", "mine.csv")
"""A damaged one may be another good one, such as a table with another number."""


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
}


@pytest.mark.parametrize("number", range(COUNT))
def test_damaged_input_is_refused_by_one_line_or_changes_nothing(number, folder, outcomes):
    files = list(KINDS)[number % len(KINDS)]
    chance = random.Random(f"{SEED} {number}")
    file = chance.choice(sorted(path for path in Path().glob(files) if path.is_file()))
    damage = chance.choice(list(DAMAGES))
    file.write_bytes(DAMAGES[damage](file.read_bytes(), chance))
    try:
        found = KINDS[files]()
    except UserError as error:
        line = str(error)
        assert "\n" not in line
        assert len(line) <= 450
        named = (str(file), file.name, "own_datasets.mine.path")  # a missing file, by its key
        assert any(name in line for name in named), (damage, line)
    else:
        assert files in LEGAL or found == outcomes[files], f"{damage} in {file}"
