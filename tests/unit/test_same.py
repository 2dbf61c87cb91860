"""Two folders of what two versions gave: what differs is found and named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

from tools import same

RUNS = {
    "results/runs/dna/record.json": {
        "rule": "tune",
        "output": ["results/runs/dna/record.json"],
        "params": {"settings": '{"epochs": 200, "momentum": 0.9}'},
    },
    "results/data/dna.safetensors": {"rule": "prepare", "output": [], "params": {}},
}


def edited(name: str, old: str, new: str) -> Callable[[Path], None]:
    """Return what writes another text into a file."""

    def edit(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))

    return edit


def draw(folder: Path) -> None:
    image = Image.open(folder / "figure.png")
    image.putpixel((2, 1), (0, 0, 0))
    image.save(folder / "figure.png")


def save_again(folder: Path) -> None:
    """Write the same pixels and cells in other bytes."""
    Image.open(folder / "figure.png").save(folder / "figure.png", compress_level=0)
    pd.read_parquet(folder / "runs.parquet").to_parquet(folder / "runs.parquet", compression=None)


def type_of_column(folder: Path) -> None:
    pd.DataFrame({"seed": [0, 1], "loss": ["0.5", "0.25"]}).to_parquet(folder / "runs.parquet")


def plan_without(key: str) -> Callable[[Path], None]:
    def remove(folder: Path) -> None:
        left = {name: job for name, job in RUNS.items() if name != key}
        (folder / "dna.json").write_text(json.dumps(left))

    return remove


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    """Two folders with the same in them."""
    folders = tmp_path / "base", tmp_path / "today"
    for folder in folders:
        (folder / "tables").mkdir(parents=True)
        (folder / "tables/ratios.csv").write_text("name,speedup\na,1.5\nb,2.5\nc,3.5\n")
        (folder / "overview.md").write_text("# Short\n\nAll well.\n")
        (folder / "dna.json").write_text(json.dumps(RUNS))
        pd.DataFrame({"seed": [0, 1], "loss": [0.5, 0.25]}).to_parquet(folder / "runs.parquet")
        Image.new("RGB", (4, 3), "white").save(folder / "figure.png")
    return folders


@pytest.mark.parametrize("change", [lambda folder: None, save_again])
def test_same_content_is_equal(sides: tuple[Path, Path], change: Callable[[Path], None]) -> None:
    change(sides[1])
    assert same.differences(*sides) == []


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            edited("tables/ratios.csv", "b,2.5\nc,3.5", "b,2.25\nc,4"),
            "tables/ratios.csv: column speedup: 2 of 3 rows, by 0.5 at most; row 2: 2.5 and 2.25",
        ),
        (
            edited("tables/ratios.csv", "c,", "d,"),
            "tables/ratios.csv: column name: 1 of 3 rows; row 3: c and d",
        ),
        (edited("tables/ratios.csv", "c,3.5\n", ""), "tables/ratios.csv: 3 and 2 rows"),
        (
            edited("tables/ratios.csv", "speedup", "gain"),
            "tables/ratios.csv: column speedup: only in BASE; "
            "column gain: only in the working tree",
        ),
        (
            edited("tables/ratios.csv", "a,", '"a",'),
            "tables/ratios.csv: other bytes, the same content",
        ),
        (
            type_of_column,
            "runs.parquet: column loss (float64): only in BASE; "
            "column loss (str): only in the working tree",
        ),
        (
            edited("overview.md", "well", "lost"),
            "overview.md: line 3: All well. and All lost.",
        ),
        (draw, "figure.png: 1 of 12 pixels"),
        (
            edited("dna.json", "200", "300"),
            "dna.json: results/runs/dna/record.json.params.settings: "
            '{"epochs": 200, "momentum": 0.9} and {"epochs": 300, "momentum": 0.9}',
        ),
        (
            plan_without("results/data/dna.safetensors"),
            "dna.json: results/data/dna.safetensors: only in BASE",
        ),
        (
            lambda folder: (folder / "figure.png").unlink(),
            "figure.png: only in BASE",
        ),
        (
            lambda folder: (folder / "new.md").touch(),
            "new.md: only in the working tree",
        ),
    ],
)
def test_planted_difference_is_named(
    sides: tuple[Path, Path], change: Callable[[Path], None], line: str
) -> None:
    change(sides[1])
    assert same.differences(*sides) == [line]


def test_of_long_texts_the_part_that_differs_is_shown(sides: tuple[Path, Path]) -> None:
    for folder, value in zip(sides, "xy", strict=True):
        (folder / "dna.json").write_text(json.dumps({"settings": "a" * 500 + value + "b" * 500}))
    (line,) = same.differences(*sides)
    assert len(line) < 300
    assert "aaax" in line
    assert "aaay" in line


def test_unknown_proof_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["same.py", "HEAD", "--only", "plans,table"])
    with pytest.raises(SystemExit):
        same.main()
    assert "table: not one of plans, " in capsys.readouterr().err
