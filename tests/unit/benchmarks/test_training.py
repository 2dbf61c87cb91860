"""What the training benchmark compares ours with."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.training import plain
from benchmarks.training.epochs import Case, epoch_rows
from benchmarks.training.steps import step_rows
from benchmarks.workloads import sentences, tabular


def flops(run):
    with FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops()


def test_matrix_products_are_those_of_an_eager_step():
    workload = tabular("dna")
    inputs, labels = workload.dataset.train.inputs[:16], workload.dataset.train.labels[:16]
    model = workload.run(16).model
    optimizer = plain.default_optimizer(model, workload.configuration)
    alone = flops(plain.matrix_products(model, [inputs]))
    assert alone == flops(lambda: plain.train_on(model, optimizer, [(inputs, labels)]))


def test_resident_mini_batches_hold_each_row_at_most_once():
    split = tabular("dna").dataset.train
    batches = list(plain.resident(split, 32, 100))
    assert [len(labels) for _, labels in batches] == [32, 32, 32, 4]
    assert len(torch.cat([inputs for inputs, _ in batches]).unique(dim=0)) > 90


def test_loader_and_training_run_see_the_same_data():
    split = sentences(rows=30, words=50, dimension=4).dataset.train
    seen = torch.cat([labels for _, labels in plain.data_loader(split, 8)])
    assert seen.sort().values.equal(split.labels.sort().values)
    some = list(plain.data_loader(split, 8, rows=[3, 4, 5]))
    assert [len(labels) for _, labels in some] == [3]


def test_sentences_end_in_padding_alone():
    split = sentences(rows=40, words=50, dimension=4).dataset.train
    words = (split.inputs != 0).long()
    assert words[:, 0].all()
    assert (words.diff(dim=1) <= 0).all()


def test_rows_relate_subset_epochs_to_the_full_one():
    case = Case("MLP", tabular("dna"), batch_size=64, at_once=1)
    full, rs2, random = epoch_rows(case, rounds=1)
    rows = len(case.workload.dataset.train)
    assert [row["samples"] for row in (full, rs2, random)] == [rows, *[round(rows / 10)] * 2]
    assert full["share of our full epoch"] == 1.0
    assert rs2["share of our full epoch"] == pytest.approx(
        (rs2["samples"] / rs2["ours samples/s"]) / (rows / full["ours samples/s"])
    )


def test_steps_are_counted_as_they_are_taken():
    (row,) = step_rows(tabular("dna", "sgd"), 64, rounds=1)
    assert row["ours / products"] == pytest.approx(row["ours ms"] / row["products ms"])
    assert row["eager / products"] == pytest.approx(row["eager ms"] / row["products ms"])
