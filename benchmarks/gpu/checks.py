"""The checks of `make gpu`, one function each. Data are generated with a seed, or packaged."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil
import pynvml
import torch
import yaml

from automata.config.sections import Compute
from automata.errors import UserError
from automata.metering.gpus import gpu_sources
from automata.records.record import read_record
from automata.training.device import gpus_in_use
from automata.training.run import TrainingRun
from benchmarks import workloads
from benchmarks.gpu.epochs import CUDA, LOSS, epoch_rows
from benchmarks.report import Row

ROOT = Path(__file__).parents[2]
EAGER = {"float32": Compute(), "bfloat16": Compute(precision="bfloat16")}
COMPILED = {"float32": Compute(), "compiled": Compute(compiled=True)}
SECONDS = 600
CLOCKS = ("seconds", "finished_at", "measurement")
TESTS = ("tests/unit/training", "tests/unit/models", "tests/unit/selection")


class Finding(NamedTuple):
    """The result of a check."""

    good: bool
    text: str
    rows: list[Row] = []


def text_twice(folder: Path, quick: bool) -> Finding:
    """Check that an LSTM of two layers, trained twice with one seed, gives the same numbers."""
    size = {"words": 300, "dimension": 8, "hidden": 6} if quick else {"words": 9000}
    workload = workloads.sentences(64 if quick else 4000, **size)
    workload.configuration["layers"] = 2
    first, second = (_trained(workload.run(16, device=CUDA)) for _ in range(2))
    differ = "losses or weights differ: try CUBLAS_WORKSPACE_CONFIG=:4096:2, and report it"
    same = first == second
    return Finding(same, "the same losses and weights, to the last bit" if same else differ)


def epochs(folder: Path, quick: bool, ways: dict[str, Compute]) -> Finding:
    """Check that ResNet18 trains as fast as in a plain loop of torch, with similar losses."""
    workload = workloads.images(50, 5) if quick else workloads.images(9000)
    rows = epoch_rows(workload, ways, 1 if quick else 3)
    alike = all(abs(row[LOSS] / rows[1][LOSS] - 1) < 0.1 for row in rows[1:])
    slowest = min(row["full epoch: times as fast"] for row in rows[1:])
    text = f"losses {'alike' if alike else 'different'}, at least {slowest:.2f} times as fast"
    return Finding(alike and (quick or slowest > 0.8), text, rows)


def smoke_twice(folder: Path, quick: bool) -> Finding:
    """Check that the smoke experiment (packaged dna) gives the same losses twice."""
    own = {"compute": {"device": "cuda"}}
    for name in ("one", "two"):
        _snakemake(folder / name, own, ROOT / "config/smoke.yaml")
    one, two = (_outcomes(folder / name) for name in ("one", "two"))
    return Finding(
        one == two, f"{len(one)} runs: {'the same' if one == two else 'different'} losses"
    )


def images_interrupted(folder: Path, quick: bool) -> Finding:
    """Check that a job on generated images gives the same losses if it is killed and resumes."""
    drawn = (workloads.images(180, 8) if quick else workloads.images(6000)).dataset.train
    pixels, labels = drawn.inputs.permute(0, 2, 3, 1).numpy(), drawn.labels.numpy()
    np.savez(folder / "images.npz", images=pixels, labels=labels)
    own = {
        "experiment": "images",
        "datasets": ["noise"],
        "own_datasets": {"noise": {"kind": "image", "path": str(folder / "images.npz")}},
        "searches": ["random"],
        "schedulers": ["hyperband"],
        "selectors": ["rs2"],
        "fractions": [0.5],
        "seeds": [0],
        "untuned_seeds": None,
        "protocol": {"image": {"configurations": 4, "epochs": 3, "reselect_every": 1}},
        "metering": {"exclusive": False},
        "models": {"keep": "none"},
        "compute": {"device": "cuda"},
    }
    _snakemake(folder / "whole", own)
    reported = _killed_in_its_search(folder / "killed", own)
    _snakemake(folder / "killed", own)
    whole, resumed = (_outcomes(folder / name) for name in ("whole", "killed"))
    how = f"killed after {reported} results, resumed" if reported else "ended before the kill"
    same = whole == resumed
    return Finding(bool(reported) and same, f"{how}: {'the same' if same else 'different'} losses")


def energy_and_power(folder: Path, quick: bool) -> Finding:
    """Check NVML's counter of energy against the integral of the power that NVML reports."""
    notes: list[str] = []
    counters = gpu_sources(gpus_in_use(CUDA), notes)
    if not counters:
        return Finding(False, f"no counter of energy: {'; '.join(notes)}")
    counter = counters[0]
    number = counter.channel().domain.rpartition("_")[2]
    handle = pynvml.nvmlDeviceGetHandleByIndex(int(number))
    matrix = torch.randn(4096, 4096, device=CUDA)
    counter.start()
    seconds, watts = [time.perf_counter()], [pynvml.nvmlDeviceGetPowerUsage(handle) / 1000]
    while seconds[-1] - seconds[0] < 20:
        for _ in range(20):
            matrix = torch.tanh(matrix @ matrix)
        torch.cuda.synchronize()
        seconds.append(time.perf_counter())
        watts.append(pynvml.nvmlDeviceGetPowerUsage(handle) / 1000)
    counter.update()
    joules, integral = counter.channel().joules or 0.0, float(np.trapezoid(watts, seconds))
    share = joules / integral if integral else float("nan")
    text = f"{joules:.0f} J counted, {integral:.0f} J by power, {share:.3f} times as much"
    return Finding(0.9 < share < 1.1, text)


def tests_of_a_gpu(folder: Path, quick: bool) -> Finding:
    """Run the tests that compare a GPU with the CPU."""
    which = "cpu_and_gpu_agree or a_model_on_a_gpu"
    command = [sys.executable, "-m", "pytest", "-q", "-k", which, "-p", "no:cacheprovider", *TESTS]
    status, output = _run(command)
    failed = [line for line in output if line.startswith("FAILED")]
    return Finding(status == 0, "; ".join([*output[-1:], *failed]))


CHECKS: dict[str, tuple[Callable[[Path, bool], Finding], bool]] = {
    "a text run twice": (text_twice, False),
    "epochs against a plain loop": (partial(epochs, ways=EAGER), False),
    "the smoke experiment twice": (smoke_twice, False),
    "NVML's energy against its power": (energy_and_power, True),
    "an interrupted image job": (images_interrupted, False),
    "tests": (tests_of_a_gpu, True),
    "compiled epochs": (partial(epochs, ways=COMPILED), True),
}
"""Name -> the check, and whether it needs a real GPU; the most important first."""


def _trained(run: TrainingRun) -> list[Any]:
    """Return the losses of a run after three epochs, and digests of its weights."""
    run.train_to(3)
    run.evaluate()
    weights = [value.cpu().numpy().tobytes() for value in run.model.state_dict().values()]
    latest = run.progress.evaluations[-1]
    return [run.progress.training_loss[:], latest.loss, [sha256(w).hexdigest() for w in weights]]


def _command(folder: Path, own: dict[str, Any], *files: Path) -> list[str]:
    """Return the snakemake command that makes the runs of the configuration `own` in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "own.yaml"
    file.write_text(yaml.safe_dump(own))
    paths = [str(path) for path in (*files, file)]
    where = ["--nolock", "--directory", str(folder), "--configfile", *paths]
    return [sys.executable, "-m", "snakemake", "--cores", "2", *where, "--until", "tune"]


def _snakemake(folder: Path, own: dict[str, Any], *files: Path) -> None:
    status, output = _run(_command(folder, own, *files))
    if status:
        raise UserError(([line for line in output if "error:" in line] or output)[-1])


def _run(command: list[str]) -> tuple[int, list[str]]:
    """Return the exit status and the output lines of `command`; it may take SECONDS."""
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        output, _ = process.communicate(timeout=SECONDS)
    finally:
        _kill(process)
    return process.returncode, output.strip().splitlines() or ["no output"]


def _kill(process: subprocess.Popen[Any]) -> None:
    """Kill a process with its descendants, Ray's among them."""
    if process.poll() is None:
        family = [*psutil.Process(process.pid).children(recursive=True), process]
        for member in family:
            with suppress(psutil.Error, ProcessLookupError):
                member.kill()
        process.wait()


def _killed_in_its_search(folder: Path, own: dict[str, Any]) -> int:
    """Kill a job after its second result; return its number of results, 0 if it had finished."""
    process = subprocess.Popen(
        _command(folder, own), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    work, end = folder / "results/work", time.monotonic() + SECONDS
    try:
        while process.poll() is None and time.monotonic() < end:
            with suppress(FileNotFoundError):  # the job has just finished
                results = sum(it.read_text().count('"reported"') for it in work.rglob("log.jsonl"))
                if results >= 2:
                    return results
            time.sleep(0.02)
    finally:
        _kill(process)
    return 0


def _outcomes(folder: Path) -> dict[str, Any]:
    """Return the content of all records in a folder without times and energy, by run."""
    outcomes = {}
    for path in sorted(folder.glob("results/runs/**/record.json")):
        record = read_record(path)
        final = record.final and record.final.progress.model_dump()
        parts = [record.tuning.model_dump()["trials"], final, record.test.model_dump()]
        outcomes[record.job.run.model_dump_json()] = undated(parts)
    if not outcomes:
        raise UserError(f"{folder}: no record was made")
    return outcomes


def undated(value: Any) -> Any:
    """Return a dump without times and energy."""
    if isinstance(value, dict):
        return {name: undated(part) for name, part in value.items() if name not in CLOCKS}
    return [undated(part) for part in value] if isinstance(value, list) else value
