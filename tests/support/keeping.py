"""A model with random weights, kept in a file."""

import torch

from automata.models.classifier import build_model
from automata.prediction.saved import SavedModel, write_model

from .searching import make_job

MODELS = {"tabular": "mlp", "text": "lstm", "image": "resnet18"}
VALUES = {"tabular": {"hidden1": 8, "hidden2": 8}, "text": {"hidden": 8}, "image": {}}


def keep(data, preparation, file):
    """Write an untrained model of the own data `data`; return it and its facts."""
    job = make_job(run={"dataset": data.name}, model=MODELS[data.kind])
    settings = job.settings.model_copy(update={"data": preparation})
    saved = SavedModel(
        job=job.model_copy(update={"settings": settings}),
        configuration=VALUES[data.kind],
        kind=data.kind,
        classes=data.metadata["class_names"],
        encoding=data.encoding,
        inputs=[*data.train.inputs.shape[1:]],
        extras={name: [*extra.shape] for name, extra in data.extras.items()},
    )
    torch.manual_seed(0)
    model = build_model(data, VALUES[data.kind], MODELS[data.kind]).eval()
    write_model(file, model, saved)
    return model, saved
