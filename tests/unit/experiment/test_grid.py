"""The runs of a grid, and the paths of their inputs."""

from pathlib import Path

import pytest

from automata.config.files import SHIPPED, read_experiments
from automata.errors import UserError
from automata.experiment.grid import Grid, alternatives
from automata.experiment.outputs import Outputs


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def grid(*names, **changes):
    """Return the grid of shipped files, changed."""
    files = [SHIPPED / f"{name}.yaml" for name in ("config", *names)]
    return Grid(read_experiments(files, changes), [])


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"selectors": ["full", "full-again"]}, {("full", "1", "7"), ("full-again", "1", "7")}),
        ({"selectors": ["untuned"], "untuned_seeds": None}, {("untuned", "0", "7")}),
        ({"selectors": ["full", "untuned"]}, {("full", "1", "7"), ("untuned", "0", "8")}),
        (
            {"selectors": ["full", "random"], "fractions": [1.0, 0.1]},
            {("full", "1", "7"), ("random", "1", "7"), ("random", "0.1", "7")},
        ),
    ],
)
def test_a_control_has_one_fraction_and_untuned_may_have_its_own_seeds(changes, expected):
    found = grid("smoke", **{"seeds": [7], "untuned_seeds": [8], **changes}).runs
    assert {(place.selector, place.fraction, place.seed) for place in found} == expected


def test_constraints_of_wildcards_match_runs_only():
    assert grid("smoke", fractions=[0.05, 0.1]).constraint("fraction") == r"(?:0\.05|0\.1|1)"
    assert alternatives([]) == "(?:)"


def test_places_of_published_runs_are_stable():
    (full, gradmatch) = grid("smoke").runs
    assert grid("smoke").prepared("dna") == "results/data/dna.safetensors"
    assert Outputs(grid("smoke")).published[-1] == "results/smoke/index.html"
    assert full.stem == "dna/random-hyperband-4af660c7/full-1/seed-0"
    assert gradmatch.stem == "dna/random-hyperband-4af660c7/gradmatch-0.1/seed-0"


def test_missing_files_and_parts_with_different_shared_keys_are_refused_in_one_line():
    with pytest.raises(UserError, match=r"^archives: old\.tar\.xz: no such file$"):
        grid("smoke", archives=["old.tar.xz"])
    own, vectors = {"kind": "text", "path": "t.csv", "text": "a", "target": "b"}, {"source": "v"}
    changes = {"datasets": ["mine"], "own_datasets": {"mine": own}, "data": {"vectors": vectors}}
    for key in r"own_datasets\.mine\.path: t\.csv", r"data\.vectors\.source: v":
        with pytest.raises(UserError, match=f"^{key}: no such file or folder$"):
            _ = grid("smoke", **changes).records
        Path("t.csv").touch()
    (part,) = read_experiments([SHIPPED / "config.yaml"])
    with pytest.raises(UserError, match=r"^experiment: must be the same in all parts$"):
        Grid([part, part.model_copy(update={"experiment": "other"})], [])
