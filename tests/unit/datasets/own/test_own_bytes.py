"""Descriptions of own data give the same inputs and labels as in earlier versions.

The checksums are by code that met those of the code before `READER` 2 (their first 48 digits). All
numbers are whole, or halves, so that no library's order of adding matters.
"""

import hashlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from automata.config.data import Preparation
from automata.datasets.prepare import prepare
from automata.datasets.prepared import SPLITS

HEADER = "number,half,soil,wet,gaps,marks,code,share,tone,kind\n"
TABLE = {"path": "t.csv", "target": "kind"}
TABULAR = {**TABLE, "kind": "tabular", "categorical": ["code"]}
TEXT, WORDS = {**TABLE, "kind": "text", "text": "tone"}, {"source": None, "dimension": 2}
IMAGE = {"path": "pets", "kind": "image"}


def line(row):
    """Return a row with one cell of each kind."""
    soil, tone = ("sand", "clay", "peat")[row * row % 3], f"tone {row * 5 % 12}"
    gaps = f"{'' if row % 6 == 1 else row % 4},{'NA' if row % 7 == 2 else f's{row % 5}'}"
    texts = f'{gaps},0{row % 3},"0,{row % 30}",{tone},{"abc"[row % 3]}'
    return f"{row * 7 % 11},{row % 5 / 2},{soil},{row % 4 > 1},{texts}\n"


def save_image(number):
    """Save an image in one of four modes, as a dog or a cat."""
    pixels = (np.arange(60).reshape(4, 5, 3) * (number + 3) % 256).astype(np.uint8)
    file = Path("pets", ("dog", "cat")[number % 2], f"{number:02}.bmp")
    file.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).convert(("RGB", "L", "1", "P")[number % 4]).save(file)


@pytest.mark.parametrize(
    ("own", "vectors", "before"),
    [
        (TABULAR, None, "9706d2bb0fac107d414b542ee3e8221168d11cfebd2af519"),
        (TEXT, WORDS, "cae9158ac16e2e1f635f3c17326084d2cf094368b31ae702"),
        (IMAGE, None, "8ccd0bd6157e84a4763ab6d0654c8fb27c035d6c005892ea"),
    ],
)
def test_inputs_and_labels_are_those_of_earlier_versions(
    tmp_path, monkeypatch, own, vectors, before
):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(HEADER + "".join(map(line, range(60))))
    for number in range(20):
        save_image(number)
    described = {"own": own, "vectors": vectors}
    dataset = prepare("mine", Preparation.model_validate(described), tmp_path)
    total = hashlib.sha256()
    for split in SPLITS:
        rows = getattr(dataset, split)
        total.update(rows.inputs.numpy().tobytes() + rows.labels.numpy().tobytes())
    assert total.hexdigest()[:48] == before
