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
from statistics import fmean
from typing import Any

import torch
import yaml

from automata.config.experiment import TAKEN
from automata.config.files import DEFAULTS, RECOMMENDED, SHIPPED, read_experiments
from automata.config.job import Job, Run, settings_of
from automata.datasets.catalog import DATASETS
from automata.datasets.own.guess import Guess, guess
from automata.datasets.prepare import prepare
from automata.datasets.prepared import Dataset, Split
from automata.errors import UserError, printable
from automata.files import replacing
from automata.metering.estimate import find_hardware
from automata.training.device import choose_device, take_device
from automata.training.subsets import subset_plan
from automata.training.threads import limit_threads
from automata.tuning.context import training_run
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
PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")


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
        written = configuration(name, output, found, data, plan)
        unfinished.write_text(written, encoding="utf-8")
        read_experiments([DEFAULTS, unfinished])
    long = plan.seconds > 3600 * hours
    beyond = f", more than {hours:g} h: the smallest search there is" if long else ""
    size = plan.size
    left_out = [f"column '{it}': {found.reasons[it]}: left out" for it in found.own.get("drop", [])]
    return (
        "".join(f"{line}\n" for line in [*left_out, *data.metadata.get("read", [])])
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
    name = plain[:60].rstrip("-")
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
    """Return the seconds that a pass over the training rows takes, the mean of a few trials."""
    settings = job.settings
    search = RandomSearch(settings.protocol.search_space, settings.search, job.run.seed)
    device = take_device(choose_device(settings.compute, data.kind))
    limit_threads(settings.compute.threads_per_trial)
    return fmean(_probe(data, job, search.suggest(str(number)), device) for number in range(PROBED))


def _probe(data: Dataset, job: Job, configuration: dict[str, Any], device: torch.device) -> float:
    """Return the seconds of a pass, measured on as many rows as give a time worth reading."""
    clock, rows = CLOCKS[device.type], min(FIRST_ROWS, len(data.train))
    while True:
        part = Split(data.train.inputs[:rows], data.train.labels[:rows], data.train.normalisation)
        some = replace(data, train=part)
        run = training_run(job, some, configuration, subset_plan(job), device)
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
    metric, why = "accuracy", "also: balanced_accuracy, macro_f1, log_loss"
    if rows.max() > UNBALANCED * rows.min().clamp(min=1):
        metric = "balanced_accuracy"
        why = f"the largest class has {rows.max()} training rows, the smallest {rows.min()}"
    few = "three or more tell how sure the result is" if size.seeds < 3 else None
    lines = [
        f"# {printable(command(output))}",
        f"# It takes {plan.cost} on this machine, by a probe of {PROBED} configurations.",
        f"experiment: {_yaml(name)}",
        f"datasets: [{_yaml(name)}]",
        "own_datasets:",
        f"  {_yaml(name)}:",
        *(f"    {line}" for line in _described(found)),
        *(f"    # {printable(line)}" for line in data.metadata.get("read", [])),
        *(GLOVE if kind == "text" else []),
        "",
        *RECOMMENDED.read_text(encoding="utf-8").partition("\n\n")[2].splitlines(),
        f"seeds: {[*range(size.seeds)]}{_comment(few)}",
        "protocol:",
        f"  {kind}:",
        f"    configurations: {size.configurations}   # hyper-parameters that are tried",
        f"    epochs: {size.epochs}",
        f"    metric: {metric}   # {why}",
        "    class_weights: none   # balanced: all classes count alike in training",
    ]
    if plan.slots > 1:
        lines += ["compute:", f"  concurrent_trials: {plan.slots}   # a core each"]
    return "\n".join(lines) + "\n"


def _described(found: Guess) -> Iterator[str]:
    """Yield what was found, each key and each column of a list with its reason."""
    for key, value in found.own.items():
        columns = value if isinstance(value, list) else []
        yield f"{key}:{'' if columns else f' {_yaml(value)}'}{_comment(found.reasons.get(key))}"
        yield from (f"- {_yaml(it)}{_comment(found.reasons.get(it))}" for it in columns)


def _yaml(value: Any) -> str:
    """Return a text or number as YAML writes it; a text that could be something else is quoted."""
    style = '"' if isinstance(value, str) and not PLAIN.fullmatch(value) else None
    text = yaml.safe_dump(value, default_style=style, width=math.inf, allow_unicode=True)
    return text.removesuffix("\n").removesuffix("...").strip()


def _comment(reason: str | None) -> str:
    return f"   # {printable(reason)}" if reason else ""
