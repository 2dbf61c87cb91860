"""Write and read trained models: a file with the weights and the metadata for predictions."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal

import torch
from pydantic import Field, PositiveFloat, PositiveInt, ValidationError
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_model, save_model

from automata.config.base import Section
from automata.config.job import Job
from automata.config.protocol import OwnModel
from automata.config.sources import FACTORY
from automata.datasets.own.columns import Column
from automata.datasets.prepared import UNKNOWN, Dataset, Normalisation, Split
from automata.errors import UserError, first_line
from automata.files import replacing
from automata.loading import import_again, own_file, reason
from automata.models.classifier import Classifier, build_model
from automata.models.loss import CrossEntropy
from automata.records.base import Recorded
from automata.records.paths import MODEL
from automata.records.record import Record, unsealed

BLANK = "0" * 64


class Encoding(Section):
    """The keys of `Dataset.encoding` for all kinds of data; each kind has some of them."""

    columns: list[Column] = []
    words: list[str] = []
    longest: PositiveInt | None = None
    size: tuple[PositiveInt, PositiveInt] = (1, 1)
    mean: list[float] = []
    scale: list[PositiveFloat] = []
    separator: Annotated[str, Field(min_length=1, max_length=1)] | None = None


class SavedModel(Recorded):
    """The metadata of a model: all that predictions need besides the weights."""

    format_version: Literal[3] = 3
    digest: str = BLANK
    """SHA-256 of the file, computed with BLANK as the digest."""
    job: Job
    configuration: dict[str, Any]
    """The best hyper-parameters."""
    kind: str
    classes: list[str]
    encoding: dict[str, Any]
    """How rows become inputs: see `Dataset.encoding`."""
    inputs: list[int]
    """Shape of one row of inputs."""
    class_weights: list[PositiveFloat] = []
    """Weights of the classes in training; empty without weights."""
    extras: dict[str, list[int]]
    """Shapes of the extra tensors that the model needs; see `Dataset.extras`."""

    def require_fit(self) -> None:
        """Raise ValueError unless the fields fit each other; the file may be a stranger's."""
        own, encoding = self.job.settings.data.own, Encoding.model_validate(self.encoding)
        width, columns = len(encoding.mean), encoding.columns
        features = sum(len(column.features) for column in columns)
        fits = {
            "tabular": self.inputs == [width] and (own is None or features == width),
            "text": self.extras.get("vectors", [])[:1] == [len(encoding.words) + UNKNOWN + 1],
            "image": self.inputs == [width, *reversed(encoding.size)],
        }
        if not (
            fits.get(self.kind)
            and (own is None or own.kind == self.kind)
            and len(encoding.scale) == width
            and len(self.class_weights) in (0, len(self.classes))
            and len({*self.classes}) == len(self.classes) > 1
            and all(isinstance(c.fill, float if c.is_number else str) for c in columns)
            and all(len({*c.categories}) == len(c.categories) for c in columns)
        ):
            raise ValueError("kind, classes, inputs and encoding do not fit each other")

    def dataset(self) -> Dataset:
        """Return a data set with the model's shapes; each split has two rows of zeros."""
        types = {"tabular": torch.float32, "text": torch.int32, "image": torch.uint8}
        split = self.split(torch.zeros(2, *self.inputs, dtype=types[self.kind]))
        extras = {name: torch.zeros(shape) for name, shape in self.extras.items()}
        name, classes = self.job.run.dataset, len(self.classes)
        return Dataset(name, self.kind, classes, split, split, split, {}, extras)

    def split(self, inputs: torch.Tensor) -> Split:
        """Return `inputs` as a split; its labels are zeros, and nothing reads them."""
        moments = (torch.tensor(self.encoding[key]) for key in ("mean", "scale"))
        normalisation = Normalisation(*moments) if self.kind == "image" else None
        return Split(inputs, torch.zeros(len(inputs), dtype=torch.int64), normalisation)


def read_encoding(path: Path) -> dict[str, Any]:
    """Return the encoding of rows from a `sealed` file; raises UserError if it was altered."""
    remedy = "or of an earlier version: delete it, and run the same command again"
    content = unsealed(path.read_text("utf-8", "replace"), str(path), remedy)
    return dict(json.loads(content))


def write_model(path: Path, model: Classifier, saved: SavedModel) -> None:
    """Write the model and its metadata to `path` atomically, with a digest of the file."""
    header = saved.model_copy(update={"digest": BLANK}).model_dump_json()
    with replacing(path) as temporary:
        save_model(model.cpu(), str(temporary), metadata={"model": header})
        content = temporary.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        temporary.write_bytes(content.replace(BLANK.encode(), digest.encode(), 1))


def keep_model(
    path: Path, record: Record, dataset: Dataset, encoding: dict[str, Any], model: Classifier
) -> None:
    """Write the trained model of a run to `path`, with its metadata."""
    weights = model.criterion.class_weights
    saved = SavedModel(
        job=record.job,
        configuration=record.best.configuration,
        kind=dataset.kind,
        classes=dataset.metadata["class_names"],
        encoding=encoding,
        class_weights=[] if weights is None else weights.tolist(),
        inputs=[*dataset.train.inputs.shape[1:]],
        extras={name: [*extra.shape] for name, extra in dataset.extras.items()},
    )
    write_model(path, model, saved)


def read_model(path: Path, factory: str | None = None) -> tuple[Classifier, SavedModel]:
    """Return the model at `path` in evaluation mode on the CPU, and its metadata.

    The file may be a stranger's: reading it imports no code but the `factory` that the user names.
    Raises UserError if the file is not a model, or if the model needs another `factory`.
    """
    try:
        with safe_open(path, framework="pt") as file:
            saved = SavedModel.model_validate_json((file.metadata() or {})["model"])
    except (OSError, SafetensorError, KeyError, ValidationError) as error:
        if path.suffix != Path(MODEL).suffix:
            raise UserError(f"{path}: not a model: name its folder, or its {MODEL}") from error
        problem = "damaged, or of another version of the project, which alone can read it"
        raise UserError(f"{path}: {problem}: {first_line(error)}") from error
    content = path.read_bytes().replace(saved.digest.encode(), BLANK.encode(), 1)
    if hashlib.sha256(content).hexdigest() != saved.digest:
        remedy = "use a copy, or delete it and call Snakemake to train it again"
        raise UserError(f"{path}: its content does not match its digest: damaged; {remedy}")
    architecture = saved.job.settings.protocol.model
    if isinstance(architecture, OwnModel):
        if architecture.factory != factory:
            remedy = "if you have that code and trust it, name it: --factory (factory=)"
            raise UserError(f"{path}: was made by {architecture.factory}: {remedy} module:function")
        import_again(architecture.factory)
        trained = saved.job.files.get(FACTORY)
        if trained not in (None, own_file(architecture.factory, None, "factory")):
            problem = f"{architecture.factory} has changed since the training"
            raise UserError(f"{path}: {problem}; put the code of then there")
    try:
        saved.require_fit()
        with torch.random.fork_rng(devices=[]):  # building draws initial weights
            model = build_model(saved.dataset(), saved.configuration, architecture)
        load_model(model, path)
        if saved.class_weights:
            model.criterion = CrossEntropy(torch.tensor(saved.class_weights))
    except Exception as error:  # a stranger's file may raise anything
        raise UserError(f"{path}: no model can be made of it: {reason(error):.300}") from error
    return model.eval(), saved
