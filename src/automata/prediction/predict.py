"""Predictions for new rows."""

from __future__ import annotations

import logging
from pathlib import Path

import pandas as pd
import torch
import yaml

from automata.datasets import own
from automata.datasets.prepared import Split
from automata.errors import UserError
from automata.prediction.saved import read_model
from automata.registry import imported
from automata.runs import MODEL
from automata.training.evaluation import chunks

_LOG = logging.getLogger(__name__)


def predict(model: Path, rows: Path, factory: str | None = None) -> pd.DataFrame:
    """Return class and probabilities for each of the `rows` of a file.

    Args:
        model: an experiment's folder `results/NAME`, whose best run counts, the folder of a run,
            or the file of a model.
        rows: a table with the columns of the training file (the target may be absent), texts in
            the column of the training file, an image, a folder of images, or an `.npz` with
            `images`.
        factory: "module:function" that made a model of your own; its code runs.

    Returns:
        One row per input: `row` (from 1; the file's name of an image), `prediction`, and
        `p(CLASS)` for each class, which add up to 1.

    Raises:
        UserError: in one line, for a file that is no model, and for rows that do not fit it.
    """
    classifier, saved = read_model(_file(model), factory)
    read_rows = imported(f"{own.__name__}.{saved.kind}:read_rows")
    inputs, names, notes = read_rows(rows, saved.job.settings.data.own, saved.encoding)
    if not names:
        raise UserError(f"{rows}: there are no rows")
    for note in notes:
        _LOG.warning("%s: %s", rows, note)
    labels = torch.zeros(len(names), dtype=torch.int64)  # which nobody reads
    split = Split(torch.as_tensor(inputs), labels, saved.normalisation())
    with torch.inference_mode():
        parts = [classifier(part) for part, _ in chunks(split, classifier)]
    logits = torch.cat(parts)
    broken = ~logits.isfinite().all(dim=1)
    if broken.any():
        first = names[int(broken.int().argmax())]
        reason = "its training diverged, or this row has too large a number"
        raise UserError(f"{model}: gives no probabilities for {rows}, row {first}: {reason}")
    said = [saved.classes[number] for number in logits.argmax(dim=1).tolist()]
    shares = logits.double().softmax(dim=1).numpy()
    by_class = {f"p({name})": shares[:, number] for number, name in enumerate(saved.classes)}
    return pd.DataFrame({"row": names, "prediction": said, **by_class})


def _file(place: Path) -> Path:
    """Return the file of the model at `place`: of an experiment that of its best run."""
    best = place / "best.yaml"
    if best.is_file():
        root = best.resolve().parents[2]  # where Snakemake worked
        try:
            found = yaml.safe_load(best.read_text(encoding="utf-8"))["best"]
            runs = [root / choice["record"] for choice in found.values()]
        except (AttributeError, LookupError, TypeError, ValueError, yaml.YAMLError) as error:
            remedy = "delete it, and run the same call of Snakemake again"
            raise UserError(f"{best}: damaged: {remedy}") from error
        if len(runs) != 1:
            names = ", ".join(str(run.parent) for run in runs) or "none"
            raise UserError(f"{place}: is of several data sets, or of none; name a run: {names}")
        place = runs[0].parent
    file = place / MODEL if place.is_dir() else place
    if not file.is_file():
        remedy = "set models.keep (own, all), and call Snakemake again: it trains this one alone"
        raise UserError(f"{file}: no such model; {remedy}")
    return file
