"""Run what is missing of the study: `python -m benchmarks.study.run --data results/study`.

A unit is one search, or the fresh trainings of a larger one. A call that is cut short loses the
unit that was running; the next call goes on with it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from filelock import FileLock

import automata
from automata.config.methods import SearchSettings
from automata.datasets.prepared import Dataset
from automata.files import replacing
from automata.provenance import cpu_model, git_state, installed_version
from automata.seeds import derive
from automata.training.evaluation import chunks, evaluation_mode
from automata.training.run import TrainingRun
from automata.training.subsets import SubsetPlan, build_selector
from automata.training.threads import limit_threads
from automata.tuning.searchers import RandomSearch
from benchmarks.study.choices import EXPONENTS, Curve, Point, all_rungs, choices
from benchmarks.study.panels import PANELS, TINY, Panel
from benchmarks.study.result import CONFIGURATIONS, LARGER, RESULTS, SEARCHES, Lines, read

FIRST_SEEDS = {81: 3000, 243: 4000}
"""Configurations of a larger search -> seed of the fresh trainings of the first one."""


class Training:
    """One configuration, trained as far as it is asked for, and evaluated at every rung.

    It trains on all data, or by RS2 with an `exponent`.
    """

    def __init__(
        self,
        panel: Panel,
        dataset: Dataset,
        configuration: dict[str, Any],
        seed: int,
        exponent: float | None = None,
    ) -> None:
        selector, fraction = ("full", 1.0) if exponent is None else ("rs2", panel.fraction)
        plan = SubsetPlan(build_selector(selector), fraction)
        protocol = panel.protocol.model_copy(update={"horizon_exponent": exponent or 0.0})
        device, stream = torch.device("cpu"), derive(seed, "training")
        self.run = TrainingRun(dataset, configuration, protocol, plan, stream, device)
        self.curve: Curve = {}
        self._rungs = all_rungs(panel.epochs)
        self._cpu = 0.0

    def to(self, epoch: int) -> Curve:
        """Return the curve, at least to `epoch`."""
        for rung in self._rungs[len(self.curve) :]:
            if rung <= epoch:
                self.curve[rung] = self._point(rung)
        return self.curve

    def _point(self, rung: int) -> Point:
        start, run = time.process_time(), self.run
        run.train_to(rung)
        trained = time.process_time()
        self._cpu += trained - start
        if run.progress.failure is None:
            run.evaluate()
        evaluation = time.process_time() - trained
        right, loss = 0, None
        if run.progress.failure is None:
            latest = run.progress.evaluations[-1]
            right = round(latest.accuracy * len(run.data.validation))
            loss = float(f"{latest.loss:.6g}")
        return Point(right, loss, run.progress.samples, round(self._cpu, 3), round(evaluation, 5))

    @torch.inference_mode()
    def correct(self) -> np.ndarray:
        """Return which test rows the model classifies right, with finite logits: (n,) bool."""
        parts, model = [], self.run.model
        with evaluation_mode(model):
            for inputs, labels in chunks(self.run.data.test, model):
                logits = model(inputs)
                parts.append((logits.argmax(1) == labels) & torch.isfinite(logits).all(1))
        return torch.cat(parts).numpy()


def search(panel: Panel, dataset: Dataset, number: int) -> tuple[dict[str, Any], Any]:
    """Train the search `number`; return its line, and the correctness of test rows."""
    proposer = RandomSearch(panel.protocol.search_space, SearchSettings(), 5000 + number)
    tried = [proposer.suggest(str(trial)) for trial in range(CONFIGURATIONS)]
    full, rows = [], []
    for configuration in tried:
        training = Training(panel, dataset, configuration, number)
        full.append(training.to(panel.epochs))
        rows.append(training.correct())
    curves = {"full": full}
    for beta in EXPONENTS:
        trainings = (Training(panel, dataset, it, 1000 + number, beta) for it in tried)
        curves[f"rs2-{beta:g}"] = [training.to(panel.epochs) for training in trainings]
    line, fresh = with_finalists(panel, dataset, tried, curves, 2000 + number)
    line |= {"test_right": [int(row.sum()) for row in rows], "curves": curves}
    return {"configurations": tried, **line}, {"full": np.packbits(rows, axis=1), **fresh}


def larger(
    panel: Panel, dataset: Dataset, members: Sequence[Mapping[str, Any]], seed: int
) -> tuple[dict[str, Any], Any]:
    """Make one search of finished ones; its finalists train afresh."""
    tried = [it for member in members for it in member["configurations"]]
    curves = {
        way: [
            {int(epoch): Point(*point) for epoch, point in curve.items()}
            for member in members
            for curve in member["curves"][way]
        ]
        for way in members[0]["curves"]
    }
    return with_finalists(panel, dataset, tried, curves, seed)


def with_finalists(
    panel: Panel, dataset: Dataset, tried: list[Any], curves: Mapping[str, list[Curve]], seed: int
) -> tuple[dict[str, Any], Any]:
    """Return what all ways of tuning choose; finalists train afresh under `seed`."""
    trainings: dict[int, Training] = {}

    def fresh(trial: int, epoch: int) -> Curve:
        if trial not in trainings:
            trainings[trial] = Training(panel, dataset, tried[trial], seed)
        return trainings[trial].to(epoch)

    screens = {beta: curves[f"rs2-{beta:g}"] for beta in EXPONENTS}
    found = choices(curves["full"], screens, fresh)
    tested = sorted({choice.trial for choice in found.values() if choice.fresh})
    rows = [trainings[trial].correct() for trial in tested]
    line = {
        "methods": {name: choice._asdict() for name, choice in found.items()},
        "fresh": {trial: it.curve for trial, it in sorted(trainings.items())},
        "fresh_test_right": dict(zip(tested, [int(row.sum()) for row in rows], strict=True)),
    }
    return line, {"fresh": np.packbits(rows, axis=1)}


def units(searches: int) -> list[tuple[int, int]]:
    """Return size and number of all searches, larger ones after the last of their members."""
    return [
        (size, number * CONFIGURATIONS // size)
        for number in range(searches)
        for size in (CONFIGURATIONS, *LARGER)
        if (number + 1) * CONFIGURATIONS % size == 0
    ]


def run_panel(
    panel: Panel, data: Path, results: Path, commit: str | None, searches: int = SEARCHES
) -> None:
    """Run all units of a panel that are not among its lines yet."""
    dataset, lines = panel.dataset(data), read(results, panel.name)
    facts = {
        "panel": panel.name,
        "validation_rows": len(dataset.validation),
        "test_rows": len(dataset.test),
        "commit": commit,
        "cpu": cpu_model(),
        "versions": {it: installed_version(it) for it in ("torch", "numpy")},
    }
    for size, number in units(searches):
        if (size, number) in lines:
            continue
        start = time.monotonic()
        if size == CONFIGURATIONS:
            line, rows = search(panel, dataset, number)
        else:
            count = size // CONFIGURATIONS
            members = [lines[CONFIGURATIONS, number * count + place] for place in range(count)]
            line, rows = larger(panel, dataset, members, FIRST_SEEDS[size] + number)
        lines[size, number] = {**facts, "size": size, "number": number, **line}
        write(lines, rows, results, panel.name, size, number)
        did = f"{panel.name}: search {number} of {size} configurations"
        print(f"{did}: {time.monotonic() - start:.0f} s", flush=True)


def write(lines: Lines, rows: Any, results: Path, panel: str, size: int, number: int) -> None:
    with replacing(results / f"rows/{panel}-{size}-{number}.npz") as temporary:
        np.savez_compressed(temporary, **rows)
    text = "".join(f"{json.dumps(line, separators=(',', ':'))}\n" for line in lines.values())
    with replacing(results / f"{panel}.jsonl.gz") as temporary:
        temporary.write_bytes(gzip.compress(text.encode(), mtime=0))


def main() -> None:
    """Run the panels named, or all in their order, on one thread and at low priority."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("panels", nargs="*", help=f"{', '.join(PANELS)}; tiny is no part of it")
    parser.add_argument("--data", type=Path, required=True, help="folder of benchmarks.study.files")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    panels = [{**PANELS, TINY.name: TINY}[name] for name in options.panels or PANELS]
    code = Path(automata.__file__).parent
    state = git_state(code) or {"dirty": True}
    ours = code.is_relative_to(Path(__file__).parents[2])
    if panels != [TINY] and (state["dirty"] or not ours):
        sys.exit("the study runs on the code of a clean clone at the tag `study`")
    os.nice(19)
    limit_threads(1)
    with FileLock(options.results / "running.lock", timeout=0):
        for panel in panels:
            run_panel(panel, options.data, options.results, state.get("commit"))


if __name__ == "__main__":
    main()
