"""Predictions for new rows."""

from __future__ import annotations

import logging
from pathlib import Path

import pandas as pd
import torch
import yaml

from automata.datasets import own
from automata.errors import UserError, listed
from automata.loading import imported
from automata.prediction.saved import read_model
from automata.runs import MODEL
from automata.training.evaluation import chunks

_LOG = logging.getLogger(__name__)


def predict(model: Path, rows: Path, factory: str | None = None) -> pd.DataFrame:
    """Return `row` (a file's name, or a number from 1), `prediction` and `p(CLASS)` for each row.

    `model` is an experiment's folder, whose best run counts, a run's folder, or a model's file.
    `rows` is in the format of the training data, without classes, or a single image or text.
    `factory`, "module:function", is that of a model of your own; its code runs. Raises UserError,
    in one line, for a file that is no model, and for rows that do not fit it.
    """
    classifier, saved = read_model(_file(model), factory)
    read_rows = imported(f"{own.__name__}.{saved.kind}:read_rows")
    inputs, names, notes = read_rows(rows, saved.job.settings.data.own, saved.encoding)
    if not names:
        raise UserError(f"{rows}: there are no rows")
    for note in notes:
        _LOG.warning("%s: %s", rows, note)
    split = saved.split(torch.as_tensor(inputs))
    with torch.inference_mode():
        logits = torch.cat([classifier(part) for part, _ in chunks(split, classifier)])
    is_finite = logits.isfinite().all(dim=1).tolist()
    if not all(is_finite):
        first = names[is_finite.index(False)]
        reason = "its training diverged, or this row has too large a number"
        raise UserError(f"{model}: gives no probabilities for {rows}, row {first}: {reason}")
    said = [saved.classes[number] for number in logits.argmax(dim=1).tolist()]
    shares = classifier.unweighted(logits.double()).softmax(dim=1).numpy()
    by_class = {f"p({name})": shares[:, number] for number, name in enumerate(saved.classes)}
    return pd.DataFrame({"row": names, "prediction": said, **by_class})


def _file(place: Path) -> Path:
    """Return the model's file at `place`; for an experiment, that of its best run."""
    best = place / "best.yaml"
    if best.is_file():
        root = best.resolve().parents[2]  # where Snakemake worked
        try:
            found = yaml.safe_load(best.read_text(encoding="utf-8"))["best"]
            runs = [(root / choice["record"]).parent for choice in found.values()]
        except (AttributeError, LookupError, TypeError, ValueError, yaml.YAMLError) as error:
            raise UserError(f"{best}: damaged: delete it, and call Snakemake again") from error
        if len(runs) != 1:
            names = listed(runs) or "none"
            raise UserError(f"{place}: is of several data sets, or of none; name a run: {names}")
        place = runs[0]
    file = place / MODEL if place.is_dir() else place
    if not file.is_file():
        remedy = "set models.keep (own, all), and call Snakemake again: it trains this one alone"
        raise UserError(f"{file}: no such model; {remedy}")
    return file
