"""`python -m benchmarks.training`: epochs of each model, ours and those of a DataLoader."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

import torch

from automata.selection.problem import subset_size
from automata.training.device import limit_threads
from automata.training.run import TrainingRun
from benchmarks import workloads
from benchmarks.report import Row, parser_of, write_table
from benchmarks.timing import interleaved, ratio
from benchmarks.training import plain
from benchmarks.workloads import Workload

FRACTION = 0.1


@dataclass(frozen=True)
class Case:
    """One model and batch size; `at_once` epochs on subsets are timed together."""

    model: str
    workload: Workload
    batch_size: int
    at_once: int
    most_rounds: int = 1000


def main() -> None:
    """Time the epochs and write their table."""
    parser = parser_of("training", __doc__)
    parser.add_argument("--repeats", type=int, default=9, help="number of rounds")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch")
    options = parser.parse_args()
    limit_threads(options.threads)
    rows = [row for case in cases() for row in epoch_rows(case, options.repeats)]
    title = "Our epochs beside those of a DataLoader"
    host = {"threads": options.threads, "packages": ("torch", "numpy")}
    write_table(rows, options.results, "epochs", title, **host)


def cases() -> Iterator[Case]:
    """Yield the cases of the table; the slow models have fewer rounds."""
    for optimizer in ("sgd", "adam"):
        yield Case("MLP", workloads.tabular("satimage", optimizer), 32, at_once=10)
    for words in (8_000, 16_000):
        yield Case("LSTM", workloads.sentences(1600, words), 16, at_once=3, most_rounds=3)
    yield Case("ResNet18", workloads.images(300), 20, at_once=2, most_rounds=3)


def epoch_rows(case: Case, rounds: int) -> Iterator[Row]:
    """Yield a row for the full epoch and one per selector of subsets."""
    workload, batch_size = case.workload, case.batch_size
    rows = len(workload.dataset.train)
    subset = subset_size(rows, FRACTION)
    some = torch.randperm(rows, generator=torch.Generator().manual_seed(0))[:subset].tolist()
    contenders = {
        "ours full": _ours(workload.run(batch_size)),
        "loader full": _loader(workload, batch_size, None),
        "ours rs2": _ours(workload.run(batch_size, "rs2", FRACTION), case.at_once),
        "ours random": _ours(workload.run(batch_size, "random", FRACTION), case.at_once),
        "loader subset": _loader(workload, batch_size, some, case.at_once),
    }
    seconds = interleaved(contenders, min(rounds, case.most_rounds))
    for name in ("ours rs2", "ours random", "loader subset"):
        seconds[name] = [elapsed / case.at_once for elapsed in seconds[name]]
    for name, ours, loader, samples in (
        ("full", "ours full", "loader full", rows),
        ("10 %, rs2", "ours rs2", "loader subset", subset),
        ("10 %, random", "ours random", "loader subset", subset),
    ):
        yield {
            "model": case.model,
            "data": workload.dataset.name,
            "optimizer": workload.configuration["optimizer"],
            "batch size": batch_size,
            "epoch": name,
            "samples": samples,
            "ours samples/s": samples / median(seconds[ours]),
            "DataLoader samples/s": samples / median(seconds[loader]),
            "times as fast": ratio(seconds[loader], seconds[ours]),
            "share of our full epoch": ratio(seconds[ours], seconds["ours full"]),
        }


def _ours(run: TrainingRun, epochs: int = 1) -> Callable[[], None]:
    def train() -> None:
        run.train_to(run.progress.epochs + epochs)
        if run.progress.failure is not None:
            raise RuntimeError(run.progress.failure)

    return train


def _loader(
    workload: Workload, batch_size: int, rows: list[int] | None, epochs: int = 1
) -> Callable[[], None]:
    model = workload.run(batch_size).model
    optimizer = plain.default_optimizer(model, workload.configuration)
    loader = plain.data_loader(workload.dataset.train, batch_size, rows)

    def train() -> None:
        for _ in range(epochs):
            plain.train_on(model, optimizer, loader)

    return train


if __name__ == "__main__":
    main()
