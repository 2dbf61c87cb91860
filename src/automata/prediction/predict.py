"""Predict the classes of new rows, in files or in memory."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import torch
import yaml
from numpy.typing import NDArray

from automata.datasets import own
from automata.datasets.own.frames import write_rows
from automata.errors import UserError, listed, refusing
from automata.loading import imported
from automata.models.classifier import Classifier
from automata.prediction.saved import SavedModel, read_model
from automata.records.paths import MODEL, RECORD
from automata.training.evaluation import chunks

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, repr=False)
class Predictor:
    """A trained model that predicts the classes of new rows.

    `rows` are a path, as for `automata predict`, or what `automata.tune` takes as inputs, or a list
    of texts. Columns may have any order; further ones are ignored. Filled gaps and unknown
    categories are warnings of `logging`. Raises UserError if the rows do not fit the model.
    """

    model: Classifier
    """The trained network, on the CPU, in evaluation mode."""
    saved: SavedModel
    """Its metadata: classes, hyper-parameters, and how rows become inputs."""

    def __repr__(self) -> str:
        job, classes = self.saved.job, listed(self.saved.classes)
        name = getattr(job.settings.protocol.model, "factory", job.settings.protocol.model)
        return f"<{type(self).__name__} of {job.run.dataset}: {name}, classes {classes}>"

    def predict(self, rows: Any) -> NDArray[np.object_]:
        """Return the class of each row (n,), as a text of the training file: `1`, not 1."""
        return self.table(rows)["prediction"].to_numpy(dtype=object)

    def predict_proba(self, rows: Any) -> pd.DataFrame:
        """Return a column of probabilities for each class; rows of pandas keep their index."""
        table = self.table(rows).iloc[:, 2:].set_axis(self.saved.classes, axis=1)
        return table.set_axis(rows.index) if isinstance(rows, pd.DataFrame | pd.Series) else table

    def table(self, rows: Any) -> pd.DataFrame:
        """Return the columns `row` (file name, or number from 1), `prediction` and `p(CLASS)`."""
        if isinstance(rows, str | Path):
            if self.saved.kind == "text" and not os.path.exists(rows):  # noqa: PTH110 -- or too long
                raise UserError(f"{rows!s:.80}: no such file; a single text goes in a list")
            return self._table(Path(rows), str(rows))
        columns = [column["name"] for column in self.saved.encoding.get("columns", [])]
        columns = columns or [getattr(self.saved.job.settings.data.own, "text", "text")]
        with TemporaryDirectory(prefix="automata-") as folder:
            valid = "a path, a frame or dict of columns, numbers (n, d), texts, or uint8 images"
            with refusing("rows", rows, valid):
                file = write_rows(rows, self.saved.kind, columns, Path(folder))
            try:
                return self._table(file, "rows")
            except UserError as error:
                raise UserError(str(error).replace(str(file), "rows")) from error

    def _table(self, file: Path, name: str) -> pd.DataFrame:
        """Return the predictions for the rows of a file, which messages call `name`."""
        saved = self.saved
        read_rows = imported(f"{own.__name__}.{saved.kind}:read_rows")
        inputs, names, notes = read_rows(file, saved.job.settings.data.own, saved.encoding)
        if not names:
            raise UserError(f"{file}: there are no rows")
        for note in notes:
            _LOG.warning("%s: %s", name, note)
        split = saved.split(torch.as_tensor(inputs))
        with torch.inference_mode():
            logits = torch.cat([self.model(part) for part, _ in chunks(split, self.model)])
        is_finite = logits.isfinite().all(dim=1).tolist()
        if not all(is_finite):
            first = names[is_finite.index(False)]
            reason = "its training diverged, or this row has too large a number"
            raise UserError(f"the model gives no probabilities for {file}, row {first}: {reason}")
        predictions = [saved.classes[label] for label in logits.argmax(dim=1).tolist()]
        shares = self.model.criterion.unweighted(logits.double()).softmax(dim=1).numpy()
        by_class = {f"p({name})": shares[:, label] for label, name in enumerate(saved.classes)}
        return pd.DataFrame({"row": names, "prediction": predictions, **by_class})


def load(path: str | Path, factory: str | None = None) -> Predictor:
    """Return a trained model: of an experiment's folder (its best run), a run's folder, or a file.

    `factory`, "module:function", builds a model of your own; its code runs. Raises UserError.
    """
    return Predictor(*read_model(_model_file(Path(path)), factory))


def _model_file(path: Path) -> Path:
    """Return the file of the model at `path`; an experiment has the model of its best run."""
    if not path.exists() and path.name != MODEL:
        raise UserError(f"{path}: no such file or folder")
    best = path / "best.yaml"
    if best.is_file():
        try:
            choices = yaml.safe_load(best.read_text(encoding="utf-8"))["best"]
            folders = [Path(choice["record"]).parent for choice in choices.values()]
            # Where Snakemake worked; a part of the path may be a link.
            roots = [best.absolute().parents[2], best.resolve().parents[2]]
            known = [it for it in roots if any((it / folder).exists() for folder in folders)]
            runs = [(known or roots)[0] / folder for folder in folders]
        except (AttributeError, LookupError, TypeError, ValueError, yaml.YAMLError) as error:
            raise UserError(f"{best}: damaged: delete it, and call Snakemake again") from error
        if len(runs) != 1:
            named = f"is of several data sets; name a run: {listed(runs)}" if runs else "has no run"
            raise UserError(f"{path}: {named}")
        path = runs[0]
    file = path / MODEL if path.is_dir() else path
    if not file.is_file():
        remedy = "; set models.keep (own, all), and call Snakemake again: it trains this one alone"
        is_run = best.is_file() or (file.parent / RECORD).exists()
        raise UserError(f"{file}: no such model{remedy * is_run}")
    return file
