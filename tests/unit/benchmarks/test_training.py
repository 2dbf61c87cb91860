"""The training loops that the benchmark compares ours with."""

import pytest
import torch

from benchmarks.training import plain
from benchmarks.training.epochs import Case, epoch_rows
from benchmarks.workloads import tabular


def test_resident_mini_batches_hold_each_row_at_most_once():
    split = tabular("dna").dataset.train
    batches = list(plain.resident(split, 32, 100))
    assert [len(labels) for _, labels in batches] == [32, 32, 32, 4]
    assert len(torch.cat([inputs for inputs, _ in batches]).unique(dim=0)) > 90


def test_rows_relate_subset_epochs_to_the_full_one():
    case = Case("MLP", tabular("dna"), batch_size=64, at_once=1)
    full, rs2, random = epoch_rows(case, rounds=1)
    rows = len(case.workload.dataset.train)
    assert [row["samples"] for row in (full, rs2, random)] == [rows, *[round(rows / 10)] * 2]
    assert full["share of our full epoch"] == 1.0
    assert rs2["share of our full epoch"] == pytest.approx(
        (rs2["samples"] / rs2["ours samples/s"]) / (rows / full["ours samples/s"])
    )
