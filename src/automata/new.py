"""`automata new`: a configuration for a user's own data, with a search that fits a time limit."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
import yaml

from automata.config.data import GLOVE
from automata.config.experiment import TAKEN
from automata.config.files import DEFAULTS, RECOMMENDED, command, read_experiments
from automata.config.job import Job, Run, settings_of
from automata.datasets.catalog import DATASETS
from automata.datasets.own.guess import Guess, guess
from automata.datasets.prepare import prepare
from automata.datasets.prepared import Dataset, Split
from automata.errors import UserError, printable
from automata.files import replacing
from automata.metering.processor import watts_per_thread
from automata.provenance import cpu_quota, cpus
from automata.training.device import choose_device, limit_threads, take_device
from automata.training.run import training_run
from automata.tuning.searchers import RandomSearch
from automata.tuning.sizes import ALL_DATA, HEDGE, Plan, fitting

PROBED = 3
"""Number of configurations that the probe trains."""
PROBE_SECONDS = 1.0
"""Shorter epochs are too noisy; the probe then takes more rows, up to all."""
FIRST_ROWS = 256
"""Rows of the first probe; each later one has four times as many."""
CLOCKS = {"cpu": time.thread_time, "cuda": time.perf_counter}
"""Clock of the probe by device; on a CPU it excludes the time of other processes."""
UNBALANCED = 3.0
"""Ratio of the largest to the smallest class above which accuracy says little."""
PATIENCE = 10
"""Epochs without improvement."""
FEWEST_ROWS = 3000
"""Training rows from which the hedge is written; its study had 1 % of 3,000 rows or more."""
ON_ALL_DATA = {"searches": ["random"], "schedulers": ["hyperband"], "selectors": ["full"]}
RATES = {"loguniform": [0.0003, 0.01]}
SPACES: dict[str, dict[str, Any]] = {
    "tabular": {
        **{key: {"choice": [8, 32, 150, 300]} for key in ("hidden1", "hidden2")},
        "learning_rate": RATES,
        "weight_decay": {"loguniform": [1e-3, 0.1]},
        "dropout": {"uniform": [0.0, 0.6]},
    },
    "text": {
        "learning_rate": {"loguniform": [0.0003, 0.03]},
        "dropout": {"uniform": [0.0, 0.6]},
    },
    "image": {
        **dict.fromkeys(("lr1", "lr2", "lr3", "lr4"), RATES),
        "weight_decay": {"loguniform": [1e-5, 0.01]},
    },
}
"""Changes of the default search spaces, by kind: regularisation, and a wide learning rate.

Small nets are better on small tables, and as good on large ones. With less weight decay and higher
rates, models of small tables had a higher log loss than the class frequencies. Texts have no weight
decay, because every step would then train every word.
"""
OF_LARGE_TABLES = {
    "learning_rate": {"loguniform": [0.0003, 0.03]},
    "weight_decay": {"loguniform": [1e-5, 0.1]},
}
"""The same from FEWEST_ROWS on, where the weight decay of small tables cost 0 to 3 points."""
VECTORS = {"source": None, "dimension": 100}
"""Random vectors of words: they need no download."""


def new(
    path: Path,
    target: str | None,
    text: str | None,
    output: Path | None,
    hours: float,
    skip_rows: bool = False,
    encoding: str | None = None,
    force: bool = False,
) -> str:
    """Write a configuration for the data at `path`; return a summary and the next command.

    Raises UserError for unusable data, and unless `force` for an `output` that exists.
    """
    name = name_of(path)
    output = output or Path(f"{name}.yaml")
    if output.exists() and (not force or output.is_dir() or output.samefile(path)):
        other = "give another name by --output, or replace a configuration by --force"
        raise UserError(f"{output}: already exists; {other}")
    guessed = guess(path, target, text, skip_rows, encoding)
    job = _job(name, guessed)
    data = prepare(name, job.settings.data, Path("results/downloads"))
    # `reasons` already name the columns that are left out.
    notes = [it for it in data.metadata.get("read", []) if not it.endswith(": left out (drop)")]
    notes += guessed.advice
    dropped = guessed.own.get("drop", [])
    reasons = [f"{it}: left out ({guessed.reasons[it]})" for it in dropped]
    plan = planned(data, job, hours)
    with replacing(output) as unfinished:
        unfinished.write_text(configuration(name, output, guessed, data, notes, plan), "utf-8")
        read_experiments([DEFAULTS, unfinished])
    too_long = plan.seconds > 3600 * hours
    beyond = f", more than {hours:g} h; there is no smaller search" if too_long else ""
    size, advice = plan.size, f"{plan.advice}\n" if plan.advice else ""
    quota = f"a CPU quota (cgroup) allows {cpus():g} CPUs\n" if cpus() == cpu_quota() else ""
    return (
        "".join(f"{printable(line)}\n" for line in [*reasons, *notes])
        + f"{output}: {len(data.train)} training rows, {data.classes} classes\n"
        f"search: {size.configurations} configurations, {size.epochs} epochs, {size.seeds} "
        f"seed(s), {plan.slots} at once: {plan.cost}{beyond}\n"
        f"{quota}{advice}"
        f"next: {command([str(output)])}\n"
        f"then: results/{name}/best.yaml and results/{name}/index.html\n"
    )


def name_of(path: Path) -> str:
    """Return a name for the data at `path` that is not yet taken."""
    plain = re.sub(r"[^a-z0-9-]+", "-", path.name.lower().partition(".")[0]).strip("-") or "data"
    name = plain[:60].rstrip("-")
    if name not in {*DATASETS, *TAKEN, "all"}:
        return name
    return f"{name}-{'images' if path.is_dir() or path.suffix.lower() == '.npz' else 'table'}"


def _job(name: str, guessed: Guess) -> Job:
    """Return the job of the probe: FULL, with the search space that is written."""
    methods = {"search": "random", "scheduler": "hyperband", "selector": "full"}
    protocol = {guessed.own["kind"]: {"search_space": SPACES[guessed.own["kind"]]}}
    own = {"own_datasets": {name: guessed.own}, "data": {"vectors": VECTORS}, "protocol": protocol}
    (experiment,) = read_experiments([DEFAULTS], {"datasets": [name], **own})
    run = Run(dataset=name, fraction=1.0, seed=0, **methods)
    return Job(run=run, settings=settings_of(experiment, name, *methods.values()))


def planned(data: Dataset, job: Job, hours: float) -> Plan:
    """Return the largest search that takes at most `hours` here, as a probe predicts."""
    compute = job.settings.compute
    seconds, cores, watts = seconds_per_pass(data, job), 1, None
    if choose_device(compute, data.kind).type == "cpu":
        slots = cpus() / compute.threads_per_trial
        cores, share = max(1, int(slots)), min(1.0, slots)
        seconds, watts = seconds / share, watts_per_thread() * share
    return fitting(seconds, hours, cores, watts, HEDGE if hedged(data) else ALL_DATA)


def space_of(kind: str, rows: int) -> dict[str, Any]:
    """Return the changes of the default search space for data with so many training rows."""
    large = kind == "tabular" and rows >= FEWEST_ROWS
    return SPACES[kind] | (OF_LARGE_TABLES if large else {})


def hedged(data: Dataset) -> bool:
    """Return whether `data` has enough rows for searches on 1 %."""
    return len(data.train) >= FEWEST_ROWS


def seconds_per_pass(data: Dataset, job: Job) -> float:
    """Return the seconds of an epoch on all training rows: the mean of PROBED configurations."""
    settings = job.settings
    search = RandomSearch(settings.protocol.search_space, settings.search, job.run.seed)
    device = take_device(choose_device(settings.compute, data.kind))
    limit_threads(settings.compute.threads_per_trial)
    return fmean(_probe(data, job, search.suggest(str(number)), device) for number in range(PROBED))


def _probe(data: Dataset, job: Job, configuration: dict[str, Any], device: torch.device) -> float:
    """Return the seconds of an epoch on all rows, extrapolated from enough rows."""
    clock, rows = CLOCKS[device.type], min(FIRST_ROWS, len(data.train))
    while True:
        part = Split(data.train.inputs[:rows], data.train.labels[:rows], data.train.normalisation)
        some = replace(data, train=part)
        run = training_run(job, some, configuration, 0, device)
        run.train_to(1)  # the first epoch also warms up
        start = clock()
        run.train_to(2)
        seconds = clock() - start
        if seconds >= PROBE_SECONDS or rows == len(data.train):
            return seconds * len(data.train) / rows
        rows = min(len(data.train), 4 * rows)


def configuration(
    name: str, output: Path, guessed: Guess, data: Dataset, notes: list[str], plan: Plan
) -> str:
    """Return the text of a configuration file."""
    kind, size = guessed.own["kind"], plan.size
    rows = torch.bincount(data.train.labels, minlength=data.classes)
    metric, why = "accuracy", "also: balanced_accuracy, macro_f1, log_loss, roc_auc"
    weights, other = "none", "balanced: all classes have equal weight in training"
    if rows.max() > UNBALANCED * rows.min().clamp(min=1):
        metric = "balanced_accuracy"
        why = f"the largest class has {rows.max()} training rows, the smallest {rows.min()}"
        weights, other = "balanced", "all classes have equal weight in training; none: all rows"
    few = "three or more show how certain the result is" if size.seeds < 3 else None
    hedge = yaml.safe_load(RECOMMENDED.read_text("utf-8"))
    of_kind = hedge.pop("protocol")[kind]
    reason = "two cheap searches on 1 % of the data; the best three of each train on all of it"
    if not hedged(data):
        hedge, of_kind = ON_ALL_DATA, {}
        reason = f"all data: fewer than {FEWEST_ROWS} training rows"
    vectors = [
        f"data: {_yaml({'vectors': VECTORS})}   # random; better, 862 MB once:",
        f"# data: {_yaml({'vectors': {**VECTORS, 'source': GLOVE}})}",
    ]
    lines = [
        f"# {printable(command([str(output)]))}",
        f"# It takes {plan.cost} on this machine, by a probe of {PROBED} configurations.",
        *([f"# {plan.advice}."] if plan.advice else []),
        f"experiment: {_yaml(name)}",
        f"datasets: [{_yaml(name)}]",
        "own_datasets:",
        f"  {_yaml(name)}:",
        *(f"    {line}" for line in _own_dataset(guessed)),
        *(f"    # {printable(note)}" for note in notes),
        *(vectors if kind == "text" else []),
        "",
        f"# {reason}",
        *_block(hedge),
        f"seeds: {[*range(size.seeds)]}{_comment(few)}",
        "protocol:",
        f"  {kind}:",
        f"    configurations: {size.configurations}   # trials of the search",
        f"    epochs: {size.epochs}",
        f"    metric: {metric}   # {why}",
        "    break_ties: true   # of equal scores, the one with the lower log loss wins",
        f"    class_weights: {weights}   # {other}",
        f"    patience: {PATIENCE}   # epochs without improvement after which a training ends",
        *(f"    {line}" for line in _block(of_kind)),
        "    search_space:   # beside the default hyper-parameters; null removes one",
        *(
            f"      {name}: {_yaml(domain)}"
            for name, domain in space_of(kind, len(data.train)).items()
        ),
    ]
    if plan.slots > 1:
        lines += ["compute:", f"  concurrent_trials: {plan.slots}   # a core each"]
    return "\n".join(lines) + "\n"


def _own_dataset(guessed: Guess) -> Iterator[str]:
    """Yield the lines of the entry in `own_datasets`, with a reason for each key and column."""
    for key, value in guessed.own.items():
        columns = value if isinstance(value, list) else []
        yield f"{key}:{'' if columns else f' {_yaml(value)}'}{_comment(guessed.reasons.get(key))}"
        yield from (f"- {_yaml(it)}{_comment(guessed.reasons.get(it))}" for it in columns)


def _block(keys: dict[str, Any]) -> list[str]:
    """Return trusted keys as lines of YAML."""
    text = yaml.safe_dump(keys, default_flow_style=None, sort_keys=False)
    return text.splitlines() if keys else []


def _yaml(value: Any) -> str:
    """Return a value as JSON, which is YAML; texts are in quotes, so that none has a meaning."""
    return printable(json.dumps(value, ensure_ascii=False))


def _comment(reason: str | None) -> str:
    return f"   # {printable(reason)}" if reason else ""
