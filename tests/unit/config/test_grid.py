"""The runs of a grid, and the paths of their inputs and outputs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from automata.config.files import read_experiments
from automata.errors import UserError
from automata.grid import Grid, alternatives
from automata.outputs import Outputs

CONFIG = Path(__file__).parents[3] / "config"


def grid(*names: str, **changes: Any) -> Grid:
    """Return the grid of shipped files, changed."""
    files = [CONFIG / f"{name}.yaml" for name in ("config", *names)]
    return Grid(read_experiments(files, changes), [])


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        ("config", 34),  # 2 x (2 x 5 subsets + FULL and its repeat + 5 draws)
        ("tabular", 4 * 4 * 23 * 5),
        ("text", 4 * 4 * 23 * 5),
        ("image", 3 * 4 * 23 * 3),
        ("paper", 2548),  # 11 data sets x 4 x 13 subsets, 5 repeats, but 3 of the images
        ("smoke", 2),
    ],
)
def test_number_of_runs_of_a_shipped_configuration(name, runs):
    found = grid(name).runs
    assert len(found) == len(set(found)) == runs


def test_runs_of_each_data_set_of_the_paper():
    counts = Counter(place.dataset for place in grid("paper").runs)
    assert counts == {
        **dict.fromkeys(("dna", "satimage", "letter", "connect4"), 260),
        **dict.fromkeys(("sst2", "sst5", "glue-sst2", "trec6"), 260),
        **dict.fromkeys(("cifar10", "cifar100", "svhn"), 156),
    }


def fractions(**changes: Any) -> set[tuple[str, str]]:
    return {(place.selector, place.fraction) for place in grid("smoke", **changes).runs}


def test_a_control_has_one_fraction():
    found = fractions(fractions=[0.1, 0.2], selectors=["full", "full-again", "untuned"])
    assert found == {("full", "1"), ("full-again", "1"), ("untuned", "0")}


def test_other_selectors_run_fraction_one_if_it_is_listed():
    found = fractions(fractions=[1.0], selectors=["full", "random"])
    assert found == {("full", "1"), ("random", "1")}


def test_untuned_may_have_its_own_seeds():
    def seeds(**changes: Any) -> set[tuple[str, str]]:
        found = grid("smoke", selectors=["full", "untuned"], seeds=[7], **changes).runs
        return {(place.selector, place.seed) for place in found}

    assert seeds(untuned_seeds=[1, 2]) == {("full", "7"), ("untuned", "1"), ("untuned", "2")}
    assert seeds(untuned_seeds=None) == {("full", "7"), ("untuned", "7")}


def test_constraints_of_wildcards_match_runs_only():
    found = grid("smoke", fractions=[0.05, 0.1])
    assert found.constraint("fraction") == r"(?:0\.05|0\.1|1)"
    assert found.constraint("dataset") == "(?:dna)"
    assert alternatives([]) == "(?:)"


def test_places_of_published_runs_are_stable():
    (full, gradmatch) = grid("smoke").runs
    assert full.stem == "dna/random-hyperband-4af660c7/full-1/seed-0"
    assert gradmatch.stem == "dna/random-hyperband-4af660c7/gradmatch-0.1/seed-0"


def test_settings_are_in_the_name_of_a_prepared_file():
    assert grid("smoke").prepared("dna") == "results/data/dna.safetensors"
    texts = {"vectors": {"source": None, "dimension": 5}}
    some = grid("text").prepared("sst5"), grid("text", data=texts).prepared("sst5")
    assert len({*some, "results/data/sst5.safetensors"}) == 3


def test_content_of_own_files_is_in_the_name_of_a_prepared_file(here):
    own = {"mine": {"kind": "tabular", "path": "mine.csv", "target": "y"}}

    def prepared(text: str) -> str:
        Path("mine.csv").write_text(text)
        return grid("smoke", datasets=["mine"], own_datasets=own).prepared("mine")

    assert prepared("x,y\n1,0\n") != prepared("x,y\n2,0\n")


@pytest.mark.parametrize("name", ["mine", "x.safetensors"])
def test_encoding_has_the_path_that_the_rule_writes(here, name):
    Path("mine.csv").write_text("x,y\n1,0\n")
    own = {name: {"kind": "tabular", "path": "mine.csv", "target": "y"}}
    found = grid("smoke", datasets=[name], own_datasets=own)
    stem = f"results/data/{name}{found.version(name)}"  # as in rules/data.smk
    assert found.prepared(name) == f"{stem}.safetensors"
    assert found.encoding(name) == f"{stem}.encoding.json"
    assert found.baselines == [f"{stem}.baselines.json"]


def test_data_sets_of_the_paper_have_no_baselines(here):
    assert grid("smoke").baselines == []


def test_a_missing_own_file_is_one_line(here):
    own = {"mine": {"kind": "tabular", "path": "mine.csv", "target": "y"}}
    with pytest.raises(UserError, match=r"^own_datasets\.mine\.path: "):
        grid("smoke", datasets=["mine"], own_datasets=own)


def test_parts_with_different_shared_keys_are_refused():
    parts = read_experiments([CONFIG / "config.yaml", CONFIG / "paper.yaml"])
    other = parts[1].model_copy(update={"experiment": "other"})
    with pytest.raises(UserError, match=r"^experiment: must be the same in all parts$"):
        Grid([parts[0], other], [])


def test_archives_replace_runs(here):
    Path("old.tar.xz").touch()
    found = grid("smoke", archives=["old.tar.xz"])
    assert (found.runs, found.datasets) == ([], ["dna"])
    figures = Outputs(found).figures
    assert "results/smoke/figures/tradeoff/dna.png" in figures


def test_a_missing_archive_is_one_line(here):
    with pytest.raises(UserError, match=r"^archives: old\.tar\.xz: no such file$"):
        grid("smoke", archives=["old.tar.xz"])


def test_figures_without_content_are_left_out():
    both, full = grid("smoke"), grid("smoke", selectors=["full"])
    assert len(Outputs(full).figures) < len(Outputs(both).figures)


def test_published_files_are_neither_parquet_nor_records():
    kinds = {Path(path).suffix for path in Outputs(grid("smoke")).published}
    assert kinds == {".csv", ".md", ".html", ".yaml", ".png", ".json"}


def test_a_missing_folder_of_published_curves_is_one_line():
    with pytest.raises(UserError, match=r"learning_curves\.recorded: nowhere: no such folder"):
        grid("smoke", learning_curves={"recorded": "nowhere"})
