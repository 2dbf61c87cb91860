"""Tables of benchmarks, and the other implementations in them."""

import csv

import numpy as np
import pytest
import torch

from benchmarks.report import write_table
from benchmarks.selection import references
from benchmarks.selection.inputs import similarities
from benchmarks.selection.solvers import compare_facility, compare_matching, matching_contenders
from benchmarks.training import plain
from benchmarks.training.epochs import Case, epoch_rows
from benchmarks.workloads import tabular


def test_a_table_is_written_for_programs_and_for_readers(tmp_path):
    rows = [{"part": "a, b", "seconds": 1.23456}, {"part": "c", "seconds": 20.0}]
    write_table(rows, tmp_path, "parts", title="Parts", threads=3)
    first, second = csv.DictReader((tmp_path / "parts.csv").read_text().splitlines())
    assert (first["part"], first["seconds"], first["threads"]) == ("a, b", "1.23456", "3")
    assert (second["part"], second["seconds"], second["threads"]) == ("c", "20.0", "3")
    assert "torch" in first["packages"]
    markdown = (tmp_path / "parts.md").read_text()
    table = "| part | seconds |\n| --- | --- |\n| a, b | 1.23 |\n| c | 20 |\n"
    assert markdown.startswith(f"# Parts\n\n{table}")
    assert "\n- threads: 3\n" in markdown
    with pytest.raises(ValueError, match="different columns"):
        write_table([{"a": 1}, {"b": 1}], tmp_path, "x", title="X")


@pytest.fixture
def rows():
    return torch.randn(9, 14, generator=torch.Generator().manual_seed(3))


def test_all_solvers_find_the_rows_and_weights_that_a_target_is_made_of(rows):
    target = rows[2] * 3 + rows[5]
    for solve in matching_contenders(rows, target, 2).values():
        chosen, weights = solve()
        found = dict(zip(chosen.tolist(), weights.round(4).tolist(), strict=True))
        assert found == {2: 3.0, 5: 1.0}


def test_matching_objective_is_the_squared_distance_to_the_target():
    gradients = torch.tensor([[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]])
    choice = np.array([1, 0]), np.array([2.0, 0.5])
    objective = references.matching_objective(gradients, torch.tensor([1.0, 1.0]), choice)
    assert objective == pytest.approx(0.25 + 1.0)


def test_tables_compare_each_solver_with_ours(rows):
    matching = list(compare_matching("random", rows, 3, rounds=1))
    assert len(matching) == 4
    assert [row["times ours"] for row in matching if row["solver"] == "ours"] == [1.0]
    pytest.importorskip("apricot")
    facility = list(compare_facility(similarities(rows), 3, rounds=1))
    assert len(facility) == 4
    assert all(abs(row["ours / its objective - 1"]) < 1e-9 for row in facility)


def test_resident_mini_batches_hold_each_row_at_most_once():
    split = tabular("dna").dataset.train
    batches = list(plain.resident(split, 32, 100))
    assert [len(labels) for _, labels in batches] == [32, 32, 32, 4]
    assert len(torch.cat([inputs for inputs, _ in batches]).unique(dim=0)) > 90


def test_rows_relate_subset_epochs_to_the_full_one():
    case = Case("MLP", tabular("dna"), batch_size=64, at_once=1)
    full, rs2, random = epoch_rows(case, rounds=1)
    count = len(case.workload.dataset.train)
    assert [row["samples"] for row in (full, rs2, random)] == [count, *[round(count / 10)] * 2]
    assert rs2["share of our full epoch"] == pytest.approx(
        (rs2["samples"] / rs2["ours samples/s"]) / (count / full["ours samples/s"])
    )
