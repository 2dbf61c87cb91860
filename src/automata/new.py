"""A configuration for a user's own data: what the file is, and a search that fits the time."""

from __future__ import annotations

import math
import os
import re
import shlex
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import yaml

from automata.config.experiment import TAKEN
from automata.config.files import DEFAULTS, RECOMMENDED, SHIPPED, read_experiments
from automata.config.job import Job, Run
from automata.config.settings import settings_of
from automata.datasets.catalog import DATASETS
from automata.datasets.own.guess import Guess, guess
from automata.datasets.prepare import prepare
from automata.datasets.prepared import Dataset, Split
from automata.errors import UserError, printable
from automata.files import replacing
from automata.metering.estimate import find_hardware
from automata.seeds import derive
from automata.training.device import choose_device, take_device
from automata.training.run import TrainingRun
from automata.training.subsets import subset_plan
from automata.training.threads import limit_threads
from automata.tuning.searchers import RandomSearch
from automata.tuning.sizes import Plan, fitting

SNAKEFILE = SHIPPED.with_name("workflow") / "Snakefile"
"""The workflow that comes with this package, in a wheel or in a checkout."""

PROBED = 3
"""Configurations that the probe trains."""
PROBE_SECONDS = 1.0
"""What an epoch of a configuration takes at least, unless it has all rows: shorter is noise."""
FIRST_ROWS = 256
CLOCKS = {"cpu": time.thread_time, "cuda": time.perf_counter}
"""Of the probe. On a CPU its own time counts: another process that is at work changes nothing."""
UNBALANCED = 3.0
"""Rows of the largest class for one of the smallest, from which on accuracy says little."""
VECTORS = {"source": None, "dimension": 100}
GLOVE = [
    "data:",
    "  vectors: {source: null, dimension: 100}   # random; better, 862 MB once:",
    '  # vectors: {source: "https://nlp.stanford.edu/data/glove.6B.zip", dimension: 100}',
]
LONGEST_NAME = 60


_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")


def new(
    path: Path,
    target: str | None,
    text: str | None,
    output: Path | None,
    hours: float,
    skip_rows: bool = False,
) -> str:
    """Write a configuration for the data at `path`; return what to type next.

    Raises UserError, in one line, for data that cannot be used, and for an `output` that is there.
    """
    name = name_of(path)
    output = output or Path(f"{name}.yaml")
    if output.exists():
        raise UserError(f"{output}: is there already; give another name by --output")
    found = guess(path, target, text, skip_rows)
    job = _job(name, found)
    data = prepare(name, job.settings.data, Path("results/downloads"))
    plan = planned(data, job, hours)
    with replacing(output) as unfinished:
        text_of_file = configuration(name, output, found, data, plan)
        unfinished.write_text(text_of_file, encoding="utf-8")
        read_experiments([DEFAULTS, unfinished])
    long = plan.seconds > 3600 * hours
    beyond = f", more than {hours:g} h: the smallest search there is" if long else ""
    size = plan.size
    return (
        "".join(f"{line}\n" for line in _read(found, data))
        + f"{output}: {len(data.train)} training rows, {data.classes} classes\n"
        f"search: {size.configurations} configurations, {size.epochs} epochs, {size.seeds} "
        f"seed(s), {plan.slots} at once: {plan.cost}{beyond}\n"
        f"next: {command(output)}\n"
        f"then: results/{name}/best.yaml and results/{name}/index.html\n"
    )


def command(configuration: Path) -> str:
    """Return the command that runs a configuration, as it is typed in this folder."""
    here = Path("workflow/Snakefile")
    snakefile = "" if here.is_file() else f" --snakefile {shlex.quote(str(SNAKEFILE))}"
    return f"snakemake --cores all{snakefile} --configfile {shlex.quote(str(configuration))}"


def name_of(path: Path) -> str:
    """Return what the data at `path` are called: by the file, in a form that nothing else has."""
    plain = re.sub(r"[^a-z0-9-]+", "-", path.name.lower().partition(".")[0]).strip("-") or "data"
    name = plain[:LONGEST_NAME].rstrip("-")
    if name not in {*DATASETS, *TAKEN, "all"}:
        return name
    return f"{name}-{'images' if path.is_dir() or path.suffix.lower() == '.npz' else 'table'}"


def _job(name: str, found: Guess) -> Job:
    methods = {"search": "random", "scheduler": "hyperband", "selector": "full"}
    own = {"own_datasets": {name: found.own}, "data": {"vectors": VECTORS}}
    (experiment,) = read_experiments([DEFAULTS], {"datasets": [name], **own})
    run = Run(dataset=name, fraction=1.0, seed=0, **methods)
    return Job(run=run, settings=settings_of(experiment, name, *methods.values()))


def planned(data: Dataset, job: Job, hours: float) -> Plan:
    """Return the search that fits this machine and the hours, by a probe."""
    compute = job.settings.compute
    seconds, cores, watts = seconds_per_pass(data, job), 1, None
    if choose_device(compute, data.kind).type == "cpu":
        linux = hasattr(os, "sched_getaffinity")
        free = len(os.sched_getaffinity(0)) if linux else os.cpu_count() or 1
        cores = max(1, free // compute.threads_per_trial)
        with suppress(ImportError):  # of codecarbon
            hardware = find_hardware()
            watts = hardware and hardware.watts_per_thread
    return fitting(seconds, hours, cores, watts)


def seconds_per_pass(data: Dataset, job: Job) -> float:
    """Return the seconds that a pass over the training rows takes, on average, by a probe."""
    settings = job.settings
    search = RandomSearch(settings.protocol.search_space, settings.search, job.run.seed)
    device = take_device(choose_device(settings.compute, data.kind))
    limit_threads(settings.compute.threads_per_trial)
    times = [_probe(data, job, search.suggest(str(number)), device) for number in range(PROBED)]
    return sum(times) / len(times)


def _probe(data: Dataset, job: Job, configuration: dict[str, Any], device: torch.device) -> float:
    """Return the seconds of a pass, measured on as many rows as give a time worth reading.

    It trains as a trial does (`TuneTrial`).
    """
    clock = CLOCKS[device.type]
    rows = min(FIRST_ROWS, len(data.train))
    while True:
        part = Split(data.train.inputs[:rows], data.train.labels[:rows], data.train.normalisation)
        run = TrainingRun(
            replace(data, train=part),
            configuration,
            job.settings.protocol,
            subset_plan(job),
            derive(job.run.seed, job.run.training_stream),
            device,
            job.settings.compute,
        )
        run.train_to(1)  # whatever is slow at first
        start = clock()
        run.train_to(2)
        seconds = clock() - start
        if seconds >= PROBE_SECONDS or rows == len(data.train):
            return seconds * len(data.train) / rows
        rows = min(len(data.train), 4 * rows)


def configuration(name: str, output: Path, found: Guess, data: Dataset, plan: Plan) -> str:
    """Return the text of a configuration file."""
    kind, size = found.own["kind"], plan.size
    rows = torch.bincount(data.train.labels, minlength=data.classes)
    unbalanced = bool(rows.max() > UNBALANCED * rows.min().clamp(min=1))
    ratio = f"the largest class has {int(rows.max())} training rows, the smallest {int(rows.min())}"
    protocol = {
        "configurations": size.configurations,
        "epochs": size.epochs,
        "metric": "balanced_accuracy" if unbalanced else "accuracy",
        "class_weights": "none",
    }
    reasons = {
        "configurations": "hyper-parameters that are tried",
        "metric": ratio if unbalanced else "also: balanced_accuracy, macro_f1, log_loss",
        "class_weights": "balanced: all classes count alike in training",
        "concurrent_trials": "a core each",
        **({"seeds": "three or more tell how sure the result is"} if size.seeds < 3 else {}),
    }
    lines = [
        f"# {printable(command(output))}",
        f"# It takes {plan.cost} on this machine, by a probe of {PROBED} configurations.",
        *_block({"experiment": name, "datasets": [name]}, {}),
        "own_datasets:",
        f"  {_yaml(name)}:",
        *_block(found.own, found.reasons, "    "),
        *(f"    # {printable(line)}" for line in _read(found, data)),
        *(GLOVE if kind == "text" else []),
        "",
        *RECOMMENDED.read_text(encoding="utf-8").partition("\n\n")[2].splitlines(),
        *_block({"seeds": [*range(size.seeds)], "protocol": {kind: protocol}}, reasons),
    ]
    if plan.slots > 1:
        lines += _block({"compute": {"concurrent_trials": plan.slots}}, reasons)
    text = "\n".join(lines) + "\n"
    assert yaml.safe_load(text)["own_datasets"] == {name: found.own}
    return text


def _read(found: Guess, data: Dataset) -> list[str]:
    """Return what was read, a sentence each: first what is left out or taken otherwise."""
    said = [f"column '{one}': {found.reasons[one]}" for one in found.own.get("drop", [])]
    return [*(f"{one}: left out" for one in said), *data.metadata.get("read", [])]


def _block(section: dict[str, Any], reasons: dict[str, str], indent: str = "") -> Iterator[str]:
    """Yield a section as YAML has it, each key and each entry of a list with its reason."""
    for key, value in section.items():
        told = _comment(reasons.get(key))
        if isinstance(value, dict):
            yield f"{indent}{key}:{told}"
            yield from _block(value, reasons, f"{indent}  ")
        elif isinstance(value, list) and any(entry in reasons for entry in value):
            yield f"{indent}{key}:{told}"
            yield from (f"{indent}- {_yaml(it)}{_comment(reasons.get(it))}" for it in value)
        else:
            yield f"{indent}{key}: {_yaml(value)}{told}"


def _yaml(value: Any) -> str:
    """Return a value as YAML writes it in one line; a text that could be more is quoted."""
    quoted = isinstance(value, str) and not _PLAIN.fullmatch(value)
    text = yaml.safe_dump(
        value,
        default_style='"' if quoted else None,
        default_flow_style=True,
        width=math.inf,
        allow_unicode=True,
    )
    return text.removesuffix("\n").removesuffix("...").strip()


def _comment(reason: str | None) -> str:
    return f"   # {printable(reason)}" if reason else ""
