"""`automata new`: a configuration for a user's own data, with a search that fits a time limit."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import yaml

from automata.allocation import cpu_quota, cpus
from automata.catalog import DATASETS
from automata.config.data import GLOVE, VECTORS
from automata.config.experiment import TAKEN
from automata.config.files import DEFAULTS, command, read_experiments
from automata.config.job import AXES
from automata.datasets.own.guess import Guess, guess
from automata.datasets.prepare import prepare
from automata.datasets.prepared import Dataset
from automata.errors import UserError, printable
from automata.experiment.recommended import Plan, base_of, job_of, notes_of, recommended
from automata.experiment.sizes import SIZES
from automata.files import replacing
from automata.metrics import METRICS

COMMENTS = {
    "configurations": "trials of the search",
    "break_ties": "of equal scores, the one with the lower log loss wins",
    "patience": "epochs without improvement after which a training ends",
    "search_space": "beside the default hyper-parameters; null removes one",
}
"""Comments on keys of the protocol."""
TOGETHER = (
    "models: {rows: train+validation}   # few rows: the kept model, not tested, learns from both"
)
FEW_ROWS = 500
"""Training rows below which the model that predicts also learns from the validation rows."""


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
    if not hours > 0:
        raise UserError(f"--hours: {hours:g}; valid: a number > 0")
    name = name_of(path)
    output = output or Path(f"{name}.yaml")
    if output.exists() and (not force or output.is_dir() or output.samefile(path)):
        other = "give another name by --output, or replace a configuration by --force"
        raise UserError(f"{output}: already exists; {other}")
    asked = {"skip_rows": skip_rows, "encoding": encoding}
    guessed = guess(path, target, text, {key: value for key, value in asked.items() if value})
    base = base_of(name, guessed.own)
    data = prepare(name, job_of(base).settings.data, Path("results/downloads"))
    notes = notes_of(data) + guessed.advice
    plan = recommended(data, base, {}, hours, SIZES)
    with replacing(output) as unfinished:
        unfinished.write_text(configuration(name, output, guessed, data, notes, plan), "utf-8")
        read_experiments([DEFAULTS, unfinished])
    quota = f"a CPU quota (cgroup) allows {cpus():g} CPUs\n" if cpus() == cpu_quota() else ""
    return (
        "".join(f"{printable(line)}\n" for line in [*guessed.left_out, *notes])
        + f"{output}: {len(data.train)} training rows, {data.classes} classes\n"
        + "".join(f"{line}\n" for line in plan.lines(hours))
        + f"{quota}next: {command([str(output)])}\n"
        f"then: results/{name}/best.yaml and results/{name}/index.html\n"
    )


def name_of(path: Path) -> str:
    """Return a name for the data at `path` that is not yet taken."""
    plain = re.sub(r"[^a-z0-9-]+", "-", path.name.lower().partition(".")[0]).strip("-") or "data"
    name = plain[:60].rstrip("-")
    if name not in {*DATASETS, *TAKEN, "all"}:
        return name
    return f"{name}-{'images' if path.is_dir() or path.suffix.lower() == '.npz' else 'table'}"


def configuration(
    name: str, output: Path, guessed: Guess, data: Dataset, notes: list[str], plan: Plan
) -> str:
    """Return the text of a configuration file."""
    kind, seeds = guessed.own["kind"], plan.keys["seeds"]
    protocol = plan.keys["protocol"][kind]
    space = protocol["search_space"]
    rows = torch.bincount(data.train.labels, minlength=data.classes)
    comments = COMMENTS | {
        "metric": f"the largest class has {rows.max()} training rows, the smallest {rows.min()}",
        "class_weights": "all classes have equal weight in training; none: all rows",
    }
    if "model" in protocol:
        comments["model"] = "for small images on a CPU"
        comments["search_space"] = "all hyper-parameters that are tuned"
    if protocol["class_weights"] == "none":
        others = [name for name in METRICS if name != protocol["metric"]]
        comments["metric"] = f"also: {', '.join(others)}"
        comments["class_weights"] = "balanced: all classes have equal weight in training"
    few = "three or more show how certain the result is" if len(seeds) < 3 else None
    vectors = [
        f"data: {_yaml({'vectors': VECTORS})}   # random; better, 862 MB once:",
        f"# data: {_yaml({'vectors': {**VECTORS, 'source': GLOVE}})}",
    ]
    finalists = protocol.get("finalists")
    hedge = f"two cheap searches on 1 % of the data; the best {finalists} of each train on all"
    lines = [
        f"# {printable(command([str(output)]))}",
        f"# It takes {plan.cost} on this machine, by a probe of some epochs.",
        *([f"# {plan.advice}."] if plan.advice else []),
        f"experiment: {_yaml(name)}",
        f"datasets: [{_yaml(name)}]",
        "own_datasets:",
        f"  {_yaml(name)}:",
        *(f"    {line}" for line in _own_dataset(guessed)),
        *(f"    # {printable(note)}" for note in notes),
        *(vectors if kind == "text" else []),
        "",
        f"# method: {plan.reason}",
        *([f"# {hedge}"] if finalists else []),
        *(f"{key}: {_flow(plan.keys[key])}" for key in AXES if key in plan.keys),
        f"seeds: {seeds}{_comment(few)}",
        *([TOGETHER] if len(data.train) < FEW_ROWS else []),
        "protocol:",
        f"  {kind}:",
        *(
            f"    {key}: {_flow(value)}{_comment(comments.get(key))}"
            for key, value in protocol.items()
            if value is not space
        ),
        f"    search_space:{_comment(comments['search_space'])}",
        *(f"      {name}: {_yaml(domain)}" for name, domain in space.items()),
    ]
    if "compute" in plan.keys:
        lines += ["compute:", f"  concurrent_trials: {plan.slots}   # a core or GPU each"]
    return "\n".join(lines) + "\n"


def _own_dataset(guessed: Guess) -> Iterator[str]:
    """Yield the lines of the entry in `own_datasets`, with a reason for each key and column."""
    for key, value in guessed.own.items():
        columns = value if isinstance(value, list) else []
        yield f"{key}:{'' if columns else f' {_yaml(value)}'}{_comment(guessed.reasons.get(key))}"
        yield from (f"- {_yaml(it)}{_comment(guessed.reasons.get(it))}" for it in columns)


def _flow(value: Any) -> str:
    """Return a trusted value as YAML in one line."""
    text = yaml.safe_dump([value], default_flow_style=True, sort_keys=False, width=math.inf)
    return text.strip()[1:-1]


def _yaml(value: Any) -> str:
    """Return a value as JSON, which is YAML; texts are in quotes, so that none has a meaning."""
    return printable(json.dumps(value, ensure_ascii=False))


def _comment(reason: str | None) -> str:
    return f"   # {printable(reason)}" if reason else ""
