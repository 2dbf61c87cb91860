"""What `make gpu` looks at, one function each. Data are generated with a seed, or packaged."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil
import torch
import yaml

from automata.errors import UserError
from automata.metering.gpus import PolledPower, gpu_sources
from automata.records import Record, read_record
from automata.training.device import gpus_in_use
from automata.training.run import TrainingRun
from benchmarks import workloads
from benchmarks.gpu.epochs import epoch_rows
from benchmarks.report import Row
from benchmarks.workloads import Workload

ROOT = Path(__file__).parents[2]
CUDA = torch.device("cuda")
CLOCKS = ("seconds", "finished_at", "measurement")

TESTS = ("tests/unit/training", "tests/unit/models", "tests/unit/selection")


class Finding(NamedTuple):
    """What a check found."""

    good: bool
    text: str
    rows: list[Row] = []
    """A table with more."""


class Place(NamedTuple):
    """Where a check works, and how much it may do."""

    folder: Path
    seconds: float
    """Left of the time of all."""
    quick: bool
    """Small sizes, to see that it works: the pretended GPU is a slow one."""


def text_twice(place: Place) -> Finding:
    """Train an LSTM of two layers twice with one seed: cuDNN repeats itself if told to."""
    size = {"words": 300, "dimension": 8, "hidden": 6} if place.quick else {"words": 9000}
    workload = workloads.sentences(64 if place.quick else 4000, **size)
    workload.configuration["layers"] = 2
    first, second = (_trained(workload.run(16, device=CUDA)) for _ in range(2))
    if first == second:
        return Finding(True, "the same losses and weights, to the last bit")
    return Finding(
        False, "losses or weights differ: try CUBLAS_WORKSPACE_CONFIG=:4096:2, and report it"
    )


def epochs_and_plain_loop(place: Place) -> Finding:
    """Time epochs of ResNet18, full and on 10 %, and selections, beside a plain loop of torch."""
    workload = _images(place, 9000)
    rows = list(epoch_rows(workload, 20, CUDA, 1 if place.quick else 3, compiled=False))
    return Finding(True, f"{len(workload.dataset.train)} images in mini-batches of 20", rows)


def smoke_twice(place: Place) -> Finding:
    """Run the smoke experiment (packaged dna) twice on the GPU: are the losses the same?"""
    own = {"compute": {"device": "cuda"}}
    for name in ("one", "two"):
        _snakemake(place, name, own, ROOT / "config/smoke.yaml")
    one, two = (_outcomes(place.folder / name) for name in ("one", "two"))
    return Finding(one == two, f"{len(one)} runs: {'the same' if one == two else 'other'} losses")


def images_interrupted(place: Place) -> Finding:
    """Kill a job on images (generated) in its search, call again: are the losses the same?"""
    data = place.folder / "images"
    splits = _image_files(data, 60 if place.quick else 2000, 8 if place.quick else 32)
    own = {
        "experiment": "images",
        "datasets": ["noise"],
        "own_datasets": {"noise": {"kind": "image", **splits}},
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
    _snakemake(place, "whole", own)
    reported = _killed_in_its_search(place, "killed", own)
    _snakemake(place, "killed", own)
    whole, resumed = (_outcomes(place.folder / name) for name in ("whole", "killed"))
    how = f"killed after {reported} results, resumed" if reported else "ended before the kill"
    same = whole == resumed
    return Finding(bool(reported) and same, f"{how}: {'the same' if same else 'other'} losses")


def energy_and_power(place: Place) -> Finding:
    """Compare NVML's energy counter with the integral of the power that NVML reports."""
    notes: list[str] = []
    counters = gpu_sources(gpus_in_use(CUDA), notes)
    if not counters or isinstance(counters[0], PolledPower):
        return Finding(False, f"no counter of energy: {'; '.join(notes)}")
    import pynvml

    counter = counters[0]
    number = int(counter.channel().domain.rpartition("_")[2])
    handle = pynvml.nvmlDeviceGetHandleByIndex(number)
    power = PolledPower("power", lambda: pynvml.nvmlDeviceGetPowerUsage(handle) / 1000)
    power.open()
    matrix = torch.randn(4096, 4096, device=CUDA)
    counter.start()
    power.start()
    start = time.perf_counter()
    while time.perf_counter() - start < 20:
        for _ in range(20):
            matrix = torch.tanh(matrix @ matrix)
        torch.cuda.synchronize()
        power.update()
    counter.update()
    power.update()
    joules, integral = counter.channel().joules or 0.0, power.channel().joules or 0.0
    share = joules / integral if integral else float("nan")
    text = f"{joules:.0f} J counted, {integral:.0f} J by power, {share:.3f} times as much"
    return Finding(0.9 < share < 1.1, text)


def tests_of_a_gpu(place: Place) -> Finding:
    """Run the tests that compare a GPU with the CPU."""
    which = "cpu_and_gpu_agree or a_model_on_a_gpu"
    command = [sys.executable, "-m", "pytest", "-q", "-k", which, "-p", "no:cacheprovider", *TESTS]
    status, said = _run(command, place.seconds)
    failed = [line for line in said if line.startswith("FAILED")]
    return Finding(status == 0, "; ".join([*said[-1:], *failed]))


CHECKS: dict[str, tuple[Callable[[Place], Finding], bool]] = {
    "a text run twice": (text_twice, False),
    "epochs against a plain loop": (epochs_and_plain_loop, False),
    "the smoke experiment twice": (smoke_twice, False),
    "NVML's energy against its power": (energy_and_power, True),
    "an interrupted image job": (images_interrupted, False),
    "tests": (tests_of_a_gpu, True),
}
"""Name -> the check, and whether only a GPU of hardware can pass it; the most telling first."""


def _images(place: Place, rows: int) -> Workload:
    return workloads.images(50, 5) if place.quick else workloads.images(rows)


def _trained(run: TrainingRun, epochs: int = 3) -> list[Any]:
    """Return the losses of a run after so many epochs, and digests of its weights."""
    run.train_to(epochs)
    run.evaluate()
    weights = [value.cpu().numpy().tobytes() for value in run.model.state_dict().values()]
    latest = run.progress.evaluations[-1]
    return [run.progress.training_loss[:], latest.loss, [sha256(w).hexdigest() for w in weights]]


def _command(place: Place, name: str, own: dict[str, Any], *files: Path) -> list[str]:
    """Return the call of snakemake that has the runs of `own` in the folder `name`."""
    folder = place.folder / name
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "own.yaml"
    file.write_text(yaml.safe_dump(own))
    paths = [str(path) for path in (*files, file)]
    where = ["--directory", str(folder), "--configfile", *paths]
    return [sys.executable, "-m", "snakemake", "--cores", "2", *where, "--until", "tune"]


def _snakemake(place: Place, name: str, own: dict[str, Any], *files: Path) -> None:
    shutil.rmtree(place.folder / name / ".snakemake/locks", ignore_errors=True)
    status, said = _run(_command(place, name, own, *files), place.seconds)
    if status:
        raise UserError(([line for line in said if "error:" in line] or said)[-1])


def _run(command: list[str], seconds: float) -> tuple[int, list[str]]:
    """Run `command` with all its children to an end, which is after so many `seconds` at most."""
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        said, _ = process.communicate(timeout=seconds)
    finally:
        _kill(process)
    return process.returncode, said.strip().splitlines() or ["without a word"]


def _kill(process: subprocess.Popen[Any]) -> None:
    """Kill a process with its descendants, Ray's among them, if it lives."""
    if process.poll() is None:
        family = [*psutil.Process(process.pid).children(recursive=True), process]
        for member in family:
            with suppress(psutil.Error, ProcessLookupError):
                member.kill()
        process.wait()


def _killed_in_its_search(place: Place, name: str, own: dict[str, Any]) -> int:
    """Kill a job after its second result; return how many it had, 0 if it was too fast."""
    process = subprocess.Popen(
        _command(place, name, own), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    work, end = place.folder / name / "results/work", time.monotonic() + place.seconds
    try:
        while process.poll() is None and time.monotonic() < end:
            with suppress(FileNotFoundError):  # it has just ended
                results = sum(it.read_text().count('"reported"') for it in work.rglob("log.jsonl"))
                if results >= 2:
                    return results
            time.sleep(0.02)
    finally:
        _kill(process)
    return 0


def _outcomes(folder: Path) -> dict[str, Any]:
    """Return what is in the records of a folder but for clocks and energy, by their runs."""
    found = [read_record(path) for path in sorted(folder.glob("results/runs/**/record.json"))]
    if not found:
        raise UserError(f"{folder}: no record was made")
    return {record.job.run.model_dump_json(): _outcome(record) for record in found}


def _outcome(record: Record) -> Any:
    trials = [undated(trial.model_dump()) for trial in record.tuning.trials]
    final = record.final and undated(record.final.progress.model_dump())
    return [trials, final, record.test.model_dump()]


def undated(value: Any) -> Any:
    """Return a dump without what a clock wrote."""
    if isinstance(value, dict):
        return {name: undated(part) for name, part in value.items() if name not in CLOCKS}
    return [undated(part) for part in value] if isinstance(value, list) else value


def _image_files(folder: Path, rows: int, size: int) -> dict[str, str]:
    """Write random images with a trace of their class; return the paths of the splits."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = workloads.images(3 * rows, size).dataset.train
    images, labels = drawn.inputs.permute(0, 2, 3, 1).split(rows), drawn.labels.split(rows)
    paths = {name: folder / f"{name}.npz" for name in ("path", "validation", "test")}
    for path, pixels, classes in zip(paths.values(), images, labels, strict=True):
        np.savez(path, images=pixels.numpy(), labels=classes.numpy())
    return {name: str(path) for name, path in paths.items()}
