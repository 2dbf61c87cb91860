"""A configuration for a user's own data: what the file is, and a search that fits the time."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
import yaml

from automata.config.data import Preparation, Vectors
from automata.config.files import DEFAULTS, RECOMMENDED, read_experiments
from automata.config.job import Settings
from automata.config.protocol import Protocol
from automata.config.reading import read
from automata.config.settings import settings_of
from automata.datasets.own.guess import Guess, guess
from automata.datasets.prepare import prepare
from automata.datasets.prepared import Dataset, Split
from automata.errors import UserError, printable
from automata.files import replacing
from automata.selection.random import Full
from automata.training.device import choose_device, take_device
from automata.training.run import TrainingRun
from automata.training.subsets import SubsetPlan
from automata.tuning.schedulers import hyperband_brackets
from automata.tuning.searchers import RandomSearch

PROBED = 3
"""Configurations that the probe trains."""
PROBE_SECONDS = 2.0
"""What an epoch of a configuration takes at least, unless it has all rows: shorter is noise."""
FIRST_ROWS = 256
RUN_SECONDS = 15.0
"""Start of Ray and imports, of each run."""
EVALUATION = 1.1
"""Factor for evaluations at rungs and all else that no step is."""
UNBALANCED = 3.0
"""Rows of the largest class for one of the smallest, from which on accuracy says little."""
VECTORS = Vectors(source=None, dimension=100)


_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")


class Size(NamedTuple):
    """How much is searched."""

    configurations: int
    epochs: int
    seeds: int

    @property
    def passes(self) -> int:
        """Passes over the training rows of the recommended searches: Hyperband on all data."""
        brackets = hyperband_brackets(self.configurations, self.epochs, 3)
        return self.seeds * sum(bracket.epochs for bracket in brackets)


SIZES = (
    Size(27, 81, 3),
    Size(27, 27, 3),
    Size(27, 27, 1),
    Size(9, 27, 1),
    Size(9, 9, 1),
    Size(3, 3, 1),
)
"""From the best to the least."""


def new(path: Path, target: str | None, text: str | None, output: Path | None, hours: float) -> str:
    """Write a configuration for the data at `path`; return what to type next.

    Raises UserError, in one line, for data that cannot be used, and for an `output` that is there.
    """
    name = re.sub(r"[^a-z0-9-]+", "-", path.name.lower().partition(".")[0]).strip("-") or "data"
    output = output or Path(f"{name}.yaml")
    if output.exists():
        raise UserError(f"{output}: is there already; give another name by --output")
    found = guess(path, target, text)
    data = prepare(name, _preparation(found), Path("results/downloads"))
    seconds = seconds_per_pass(data, _settings(name, found))
    size = fitting(seconds, hours)
    with replacing(output) as unfinished:
        text_of_file = configuration(name, output, found, data, seconds, size)
        unfinished.write_text(text_of_file, encoding="utf-8")
        read_experiments([DEFAULTS, unfinished])
    took = needed(seconds, size)
    beyond = (
        "" if took <= 3600 * hours else f", more than {hours:g} h: the smallest search there is"
    )
    return (
        f"{output}: {len(data.train)} training rows, {data.classes} classes, "
        f"about {_duration(took)}{beyond}\n"
        f"next: snakemake --cores all --configfile {output}\n"
        f"then: results/{name}/best.yaml and results/{name}/index.html\n"
    )


def _preparation(found: Guess) -> Preparation:
    vectors = VECTORS if found.own["kind"] == "text" else None
    return Preparation.model_validate({"own": found.own, "vectors": vectors})


def _settings(name: str, found: Guess) -> Settings:
    own = {"datasets": [name], "own_datasets": {name: found.own}}
    (experiment,) = read_experiments([DEFAULTS], own)
    return settings_of(experiment, name, "random", "hyperband", "full")


def seconds_per_pass(
    data: Dataset, settings: Settings, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return the seconds that a pass over the training rows takes, on average, by a probe."""
    search = RandomSearch(settings.protocol.search_space, settings.search, 0)
    configurations = [search.suggest(str(number)) for number in range(PROBED)]
    device = take_device(choose_device(settings.compute, data.kind))
    times = [_probe(data, c, settings.protocol, device, clock) for c in configurations]
    return sum(times) / len(times)


def _probe(
    data: Dataset,
    configuration: dict[str, Any],
    protocol: Protocol,
    device: torch.device,
    clock: Callable[[], float],
) -> float:
    """Return the seconds of a pass, measured on as many rows as give a time worth reading."""
    rows = min(FIRST_ROWS, len(data.train))
    while True:
        part = Split(data.train.inputs[:rows], data.train.labels[:rows], data.train.normalisation)
        run = TrainingRun(
            replace(data, train=part),
            configuration,
            protocol,
            SubsetPlan(Full(), fraction=1.0),
            0,
            device,
        )
        run.train_to(1)  # whatever is slow at first
        start = clock()
        run.train_to(2)
        seconds = clock() - start
        if seconds >= PROBE_SECONDS or rows == len(data.train):
            return seconds * len(data.train) / rows
        rows = min(len(data.train), 4 * rows)


def needed(seconds: float, size: Size) -> float:
    """Return the seconds of an experiment of that size."""
    return EVALUATION * size.passes * seconds + 2 * size.seeds * RUN_SECONDS


def fitting(seconds: float, hours: float) -> Size:
    """Return the largest size that takes at most so many hours, or the smallest there is."""
    return next((size for size in SIZES if needed(seconds, size) <= 3600 * hours), SIZES[-1])


def configuration(
    name: str, output: Path, found: Guess, data: Dataset, seconds: float, size: Size
) -> str:
    """Return the text of a configuration file."""
    kind = found.own["kind"]
    rows = torch.bincount(data.train.labels, minlength=data.classes)
    unbalanced = bool(rows.max() > UNBALANCED * rows.min().clamp(min=1))
    metric = "balanced_accuracy" if unbalanced else "accuracy"
    ratio = f"the largest class has {int(rows.max())} training rows, the smallest {int(rows.min())}"
    why = ratio if unbalanced else "also: balanced_accuracy, macro_f1, log_loss"
    lines = [
        f"# snakemake --cores all --configfile {printable(str(output))}",
        f"# About {_duration(needed(seconds, size))} on this machine, by a probe of "
        f"{PROBED} configurations.",
        f"experiment: {_yaml(name)}",
        f"datasets: [{_yaml(name)}]",
        "own_datasets:",
        f"  {_yaml(name)}:",
        *_own(found),
        *(_vectors() if kind == "text" else []),
        "",
        *_recommended(),
        f"seeds: {list(range(size.seeds))}"
        + ("" if size.seeds > 2 else "   # three or more tell how sure the result is"),
        "protocol:",
        f"  {kind}:",
        f"    configurations: {size.configurations}     # hyper-parameters that are tried",
        f"    epochs: {size.epochs}",
        f"    metric: {metric}   # {why}",
        "    class_weights: none     # balanced: all classes count alike in training",
    ]
    text = "\n".join(lines) + "\n"
    meant = {
        "experiment": name,
        "datasets": [name],
        "own_datasets": {name: found.own},
        **({"data": {"vectors": VECTORS.model_dump()}} if kind == "text" else {}),
        **read(RECOMMENDED),
        "seeds": list(range(size.seeds)),
        "protocol": {
            kind: {
                "configurations": size.configurations,
                "epochs": size.epochs,
                "metric": metric,
                "class_weights": "none",
            }
        },
    }
    assert yaml.safe_load(text) == meant
    return text


def _own(found: Guess) -> list[str]:
    """Return the lines that describe the file, with the reason for each that has one."""
    lines = []
    for key, value in found.own.items():
        reason = found.reasons.get(key)
        if isinstance(value, list):
            lines.append(f"    {key}:")
            lines += [
                f"    - {_yaml(entry)}{_comment(found.reasons.get(entry))}" for entry in value
            ]
        else:
            lines.append(f"    {key}: {_yaml(value)}{_comment(reason)}")
    return lines


def _recommended() -> list[str]:
    """Return the keys of the recommended way of tuning, as its file has them."""
    return RECOMMENDED.read_text(encoding="utf-8").partition("\n\n")[2].splitlines()


def _vectors() -> list[str]:
    return [
        "data:",
        f"  vectors: {_yaml(VECTORS.model_dump())}   # random; better, 862 MB once:",
        '  # vectors: {source: "https://nlp.stanford.edu/data/glove.6B.zip", dimension: 100}',
    ]


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


def _duration(seconds: float) -> str:
    """Return seconds as people say them."""
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
