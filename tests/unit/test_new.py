"""`automata new`: each description that it writes is one that the project reads and prepares."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from PIL import Image

from automata import new as module
from automata.config import Preparation
from automata.config.files import DEFAULTS, RECOMMENDED, read_experiments
from automata.datasets.own.guess import guess
from automata.datasets.prepare import prepare
from automata.errors import UserError
from automata.new import SIZES, Size, fitting, needed, new

REFERENCE = Path(__file__).parents[2] / "results" / "reference"
RANDOM = np.random.default_rng(0)
ROWS = 300


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "PROBE_SECONDS", 0.0)  # one probe of FIRST_ROWS is enough


def mixed() -> pd.DataFrame:
    """One column of each kind, and three that say nothing."""
    frame = pd.DataFrame(
        {
            "row": range(1, ROWS + 1),
            "height": RANDOM.normal(10, 3, ROWS).round(2),
            "soil": RANDOM.choice(["sand", "clay"], ROWS),
            "town": [f"t{number}" for number in RANDOM.integers(0, 90, ROWS)],
            "seen": [f"2021-0{month}-11" for month in RANDOM.integers(1, 9, ROWS)],
            "label": [f"sample {number}" for number in range(ROWS)],
            "device": 1,
            "species": RANDOM.choice(["setosa", "virginica"], ROWS, p=[0.9, 0.1]),
        }
    )
    frame.loc[::9, "height"] = None
    return frame


FLOWERS = {
    "kind": "tabular",
    "path": "flowers.csv",
    "target": "species",
    "drop": ["row", "label", "device"],
    "rare_below": 10,
}


@pytest.mark.parametrize(
    "written", [{}, {"sep": ";", "decimal": ","}, {"sep": "\t", "encoding": "utf-16"}]
)
def test_table_is_described_column_by_column(written: Any) -> None:
    mixed().to_csv("flowers.csv", index=False, **written)
    found = guess(Path("flowers.csv"), "species", None)
    assert found.own == FLOWERS
    assert found.reasons["row"] == "seems to number the rows"


def texts() -> None:
    said = [f"the {word} room was fine today" for word in RANDOM.choice(["big", "old"], ROWS)]
    pd.DataFrame({"n": range(ROWS), "review": said, "stars": RANDOM.choice([1, 5], ROWS)}).to_csv(
        "reviews.tsv", sep="\t", index=False
    )


def images() -> None:
    for name in ("cat", "dog"):
        Path("pics", name).mkdir(parents=True)
        for number in range(10):
            pixels = RANDOM.integers(0, 256, (8, 8, 3)).astype(np.uint8)
            Image.fromarray(pixels).save(f"pics/{name}/{number}.png")


def arrays() -> None:
    pixels = RANDOM.integers(0, 256, (30, 8, 8)).astype(np.uint8)
    np.savez("digits.npz", images=pixels, labels=np.arange(30) % 3)


@pytest.mark.parametrize(
    ("make", "file", "target", "kind"),
    [
        (lambda: mixed().to_csv("flowers.csv", index=False), "flowers.csv", "species", "tabular"),
        (texts, "reviews.tsv", "stars", "text"),
        (images, "pics", None, "image"),
        (arrays, "digits.npz", None, "image"),
    ],
)
def test_what_is_written_is_read_and_prepared(
    tmp_path: Path, make: Any, file: str, target: str | None, kind: str
) -> None:
    make()
    said = new(Path(file), target, None, None, 1.0)
    name = Path(file).stem
    assert f"next: snakemake --cores all --configfile {name}.yaml" in said
    (experiment,) = read_experiments([DEFAULTS, Path(f"{name}.yaml")])
    assert experiment.kind(name) == kind
    data = prepare(name, experiment.preparation(name), tmp_path)
    assert len(data.train) > 0
    metric = experiment.protocol_of(name).metric
    assert metric == ("balanced_accuracy" if name == "flowers" else "accuracy")


def test_a_file_that_is_there_is_not_replaced() -> None:
    mixed().to_csv("flowers.csv", index=False)
    Path("flowers.yaml").write_text("mine")
    with pytest.raises(UserError, match=r"flowers\.yaml: is there already"):
        new(Path("flowers.csv"), "species", None, None, 1.0)
    assert Path("flowers.yaml").read_text() == "mine"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (None, r"--target: missing; columns that can be classes: soil, town, seen, species"),
        ("color", "--target: color: no such column"),
        ("row", "300 different numbers: this project classifies"),
        ("height", "column 'height'"),
    ],
)
def test_targets_that_are_none_are_one_line(target: str | None, said: str) -> None:
    mixed().to_csv("flowers.csv", index=False)
    with pytest.raises(UserError, match=said) as caught:
        new(Path("flowers.csv"), target, None, None, 1.0)
    assert "\n" not in str(caught.value)


def test_the_largest_search_that_fits_is_taken() -> None:
    assert fitting(1e-3, 1.0) == SIZES[0]
    assert fitting(1e6, 1.0) == SIZES[-1]
    sizes = [fitting(seconds, 1.0) for seconds in (0.001, 0.5, 2.0, 10.0, 60.0)]
    assert sizes == sorted(sizes, key=SIZES.index)
    assert all(needed(s, size) <= 3600 for s, size in zip((0.001, 0.5, 2.0), sizes, strict=False))


def test_passes_are_those_of_the_brackets() -> None:
    """Of 9 configurations: 3 in full, 5 of which 2 go on after 3 epochs, 1 that nothing stops."""
    search = 3 * 9 + (5 * 3 + 2 * 6) + 9
    assert Size(9, 9, 2).passes == 2 * search


def test_the_recommended_way_is_what_the_published_decision_says() -> None:
    """And the one that `passes` counts. Where nothing passes the rule it is FULL."""
    decided = pd.read_csv(REFERENCE / "simulated" / "tables" / "decision.csv")
    of_interest = decided[(decided["search"] == "random") & (decided["scheduler"] == "hyperband")]
    assert not of_interest["recommended"].any()
    full = {"searches": ["random"], "schedulers": ["hyperband"], "selectors": ["full"]}
    assert yaml.safe_load(RECOMMENDED.read_text()) == full
    mixed().to_csv("flowers.csv", index=False)
    new(Path("flowers.csv"), "species", None, None, 1.0)
    assert yaml.safe_load(Path("flowers.yaml").read_text()).items() >= full.items()


def test_seconds_of_a_pass_are_those_of_a_clock() -> None:
    mixed().to_csv("flowers.csv", index=False)
    found = guess(Path("flowers.csv"), "species", None)
    data = prepare("flowers", Preparation.model_validate({"own": found.own}), Path())
    ticks = iter(range(1000))
    seconds = module.seconds_per_pass(
        data, module._settings("flowers", found), lambda: float(next(ticks))
    )
    assert seconds == pytest.approx(len(data.train) / min(len(data.train), module.FIRST_ROWS))


def test_yaml_says_why() -> None:
    mixed().to_csv("flowers.csv", index=False)
    new(Path("flowers.csv"), "species", None, None, 1.0)
    text = Path("flowers.yaml").read_text()
    assert "- row   # seems to number the rows" in text
    assert yaml.safe_load(text)["own_datasets"]["flowers"] == FLOWERS


def test_index_marks_and_codes_are_seen() -> None:
    frame = pd.DataFrame(
        {
            "alcohol": [*RANDOM.normal(10, 3, ROWS - 2).round(2), "?", "-"],
            "town": [f"{number:05d}" for number in RANDOM.integers(0, 7, ROWS)],
            "y": RANDOM.choice(["a", "b"], ROWS),
        }
    )
    frame.to_csv("t.csv")
    found = guess(Path("t.csv"), "y", None)
    assert found.own["categorical"] == ["town"]
    assert found.own.keys() == {"kind", "path", "target", "categorical"}


@pytest.mark.parametrize("name", ["yes", "null", "1e5", "a: b", "#x", "- a", "'q'", "0x1f"])
def test_whatever_a_column_is_called_it_is_read_back(name: str) -> None:
    frame = pd.DataFrame({name: range(ROWS), "x": RANDOM.normal(size=ROWS), "y": [1, 2] * 150})
    frame.to_csv("t.csv", index=False)
    new(Path("t.csv"), "y", None, None, 1.0)
    (experiment,) = read_experiments([DEFAULTS, Path("t.yaml")])
    assert experiment.own_datasets["t"].drop == [name]


HOSTILE = {
    "row": "- row\n# \nseeds: [9]",
    "town": "town\nray:\n  address: 192.0.2.1:6379\n#",
    "seen": "seen\x85data: {cache: /tmp}\u2028x: 1\r",
    "device": "\x1b[2J\u202e#\x7f\U0001f600",
    "species": 'species"\n    drop: []',
}


def test_hostile_names_of_columns_and_classes_add_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file says what it says of harmless names, with the hostile ones in their place."""
    monkeypatch.setattr(module, "seconds_per_pass", lambda data, settings: 1e-3)
    frame = mixed()
    frame.to_csv("t.csv", index=False)
    new(Path("t.csv"), "species", None, Path("harmless.yaml"), 1.0)
    frame["species"] = frame["species"] + "\nray: {address: 192.0.2.1}"
    frame.rename(columns=HOSTILE).to_csv("t.csv", index=False, quoting=csv.QUOTE_ALL)
    new(Path("t.csv"), HOSTILE["species"], None, Path("hostile.yaml"), 1.0)
    harmless = yaml.safe_load(Path("harmless.yaml").read_text())
    own = harmless["own_datasets"]["t"]
    own |= {key: [HOSTILE.get(c, c) for c in own[key]] for key in ("drop",)}
    own["target"] = HOSTILE["species"]
    assert yaml.safe_load(Path("hostile.yaml").read_text()) == harmless
    assert "\x1b" not in Path("hostile.yaml").read_text()


@pytest.mark.parametrize("name", ["null", "123"])
def test_whatever_a_file_is_called_it_is_described(name: str) -> None:
    mixed().to_csv(f"{name}.csv", index=False)
    new(Path(f"{name}.csv"), "species", None, None, 1.0)
    (experiment,) = read_experiments([DEFAULTS, Path(f"{name}.yaml")])
    assert experiment.datasets == [name]
