"""What a model says of new rows."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import torch

from automata.datasets.prepared import Split
from automata.errors import UserError
from automata.prediction.encoding import encode
from automata.prediction.saved import read_model
from automata.runs import MODEL
from automata.training.evaluation import chunks


def predict(model: Path, rows: Path, factory: str | None = None) -> pd.DataFrame:
    """Return class and probabilities for each of the `rows` of a file.

    Args:
        model: file of a model, or the folder of the run that has it.
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
    file = model / MODEL if model.is_dir() else model
    if not file.exists():
        raise UserError(f"{file}: no such model; `models.keep` says which runs leave one")
    classifier, saved = read_model(file, factory)
    inputs, names = encode(rows, saved)
    split = Split(inputs, torch.zeros(len(inputs), dtype=torch.int64), saved.normalisation())
    with torch.inference_mode():
        parts = [classifier(part) for part, _ in chunks(split, classifier)]
    logits = torch.cat(parts)
    table = pd.DataFrame({"row": names})
    table["prediction"] = [saved.classes[number] for number in logits.argmax(dim=1).tolist()]
    probabilities = pd.DataFrame(
        logits.double().softmax(dim=1).numpy(), columns=[f"p({name})" for name in saved.classes]
    )
    return pd.concat([table, probabilities], axis=1)
