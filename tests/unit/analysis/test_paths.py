"""Brief names of records against a shell that expands them."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata.analysis.tables import brief, expanded

PARTS = st.text("ab01.-", min_size=1, max_size=4)
PATHS = st.lists(PARTS, min_size=1, max_size=4).map("/".join)


def grid(*parts: list[str]) -> list[str]:
    paths = [""]
    for choices in parts:
        paths = [f"{path}/{choice}".lstrip("/") for path in paths for choice in choices]
    return paths


def test_seeds_of_one_combination_share_a_word_in_the_order_of_numbers():
    records = [f"runs/dna/full-1/seed-{seed}/record.json" for seed in (10, 0, 2)]
    assert brief(records) == ["runs/dna/full-1/seed-{0,2,10}/record.json"]


def test_full_grid_is_one_word():
    records = grid(["runs"], ["dna", "letter"], ["random-0.1", "random-0.3"], ["seed-0", "seed-1"])
    assert brief(records) == ["runs/{dna,letter}/random-{0.1,0.3}/seed-{0,1}"]


def test_grid_with_a_hole_takes_several_words():
    records = grid(["dna", "letter"], ["full-1", "craig-0.1"], ["seed-0", "seed-1"])
    records.remove("letter/full-1/seed-1")
    assert brief(records) == [
        "dna/{craig-0.1,full-1}/seed-{0,1}",
        "letter/craig-0.1/seed-{0,1}",
        "letter/full-1/seed-0",
    ]


def test_single_record_and_foreign_names_stay_as_they_are():
    records = ["z.json", "runs/dna/full-1/seed-3/record.json"]
    assert brief(records) == ["runs/dna/full-1/seed-3/record.json", "z.json"]


@given(st.lists(PATHS))
def test_expansion_gives_every_path_once(paths: list[str]):
    assert expanded(brief(paths)) == sorted(set(paths))


@given(st.lists(PATHS))
def test_words_are_never_more_than_paths(paths: list[str]):
    assert len(brief(paths)) <= len(set(paths))
    assert len(" ".join(brief(paths))) <= len(" ".join(set(paths))) + 2 * len(brief(paths))


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_a_shell_expands_the_words_to_the_same_paths():
    records = [
        *grid(["runs"], ["dna", "letter"], ["full-1", "rs2-0.1", "rs2-0.3"], ["seed-0", "seed-11"]),
        *grid(["runs"], ["2024"], ["full-1"], ["seed-0", "seed-2", "seed-10"]),
        "z.json",
    ]
    words = " ".join(brief(records))
    assert "{" in words
    found = subprocess.run(
        ["bash", "-c", f"printf '%s\\n' {words}"], capture_output=True, text=True, check=True
    )
    assert sorted(found.stdout.split()) == expanded(words.split()) == sorted(records)
