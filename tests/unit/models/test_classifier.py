"""Models by name, and the user's own by their factory."""

import sys
from pathlib import Path

import pytest
import torch

from automata.config.protocol import OwnModel, Protocol
from automata.datasets.prepared import Dataset, Split
from automata.errors import UserError
from automata.models.classifier import OwnClassifier, build_model
from automata.selection.random import Full
from automata.training.run import TrainingRun
from automata.training.subsets import SubsetPlan

EXAMPLES = Path(__file__).parents[3] / "docs/examples"
NETS = '''
from torch import nn
import torch

class Net(nn.Module):
    """Its own forward is not what logits are."""

    def __init__(self, inputs, width, classes):
        super().__init__()
        self.body = nn.Linear(inputs, width)
        self.norm = nn.BatchNorm1d(width)
        self.head = nn.Linear(width, classes)

    def features(self, inputs):
        return torch.relu(self.body(inputs))

class Forgetful(Net):
    def parameter_groups(self):
        return {"learning_rate": [*self.head.parameters()]}

class Wide(Net):
    def features(self, inputs):
        return inputs

class Noisy(Net):
    """Dropout, and a batch normalisation that refuses mini-batches of one."""

    def features(self, inputs):
        return nn.functional.dropout(self.norm(super().features(inputs)), 0.5, self.training)

def build(dataset, configuration, width=5, kind="Net", classes=None):
    return globals()[kind](dataset.train.inputs.shape[1], width, classes or dataset.classes)

def failing(dataset, configuration):
    raise RuntimeError("out of\\nluck")

headless = lambda dataset, configuration: nn.Identity()
nothing = lambda dataset, configuration: None
'''


@pytest.fixture(autouse=True)
def nets(tmp_path, monkeypatch):
    """Modules `users_nets` and `my_nets` that can be imported."""
    (tmp_path / "users_nets.py").write_text(NETS)
    for folder in (tmp_path, EXAMPLES):
        monkeypatch.syspath_prepend(folder)
    yield
    sys.modules.pop("users_nets", None)


def own(factory, **options):
    return OwnModel(factory=f"users_nets:{factory}", **options)


def test_users_logits_are_head_of_features_and_options_reach_the_factory(dataset, configuration):
    torch.manual_seed(3)
    plain = torch.nn.Linear(6, 9)
    torch.manual_seed(3)
    model = build_model(dataset, configuration, own("build", width=9))
    inputs = dataset.train.inputs[:7]
    assert isinstance(model, OwnClassifier)
    torch.testing.assert_close(model(inputs), model.module.head(model.module.features(inputs)))
    assert torch.equal(model.module.body.weight, plain.weight)  # the check drew no random number
    assert model.reads_padding
    assert len(model.state_dict()) == len(model.module.state_dict())
    assert (model.evaluation_rows, model.evaluation_rows_on_gpu) == (256, 1024)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (own("nn"), "users_nets has no function or class nn; it has .*build"),
        (own("headless"), r"the module needs features\(inputs\) and head, an nn.Linear"),
        (own("nothing"), "returned NoneType, not a torch.nn.Module"),
        (own("build", classes=7), "head has 7 outputs, clouds has 3 classes"),
        (own("failing"), "failed with RuntimeError: out of luck"),
        (own("build", colour=1), "failed with TypeError: .*unexpected keyword argument 'colour'"),
        (
            own("build", kind="Forgetful"),
            r"parameter_groups\(\) must hold every parameter",
        ),
        (own("build", kind="Wide"), r"features of 2 rows are \(2, 6\), not \(2, 5\)"),
    ],
)
def test_unsuitable_factory_is_refused_in_one_line(dataset, configuration, model, expected):
    with pytest.raises(UserError, match=expected) as error:
        build_model(dataset, configuration, model)
    assert str(error.value).startswith(f"protocol.*.model.factory: {model.factory}: ")
    assert "\n" not in str(error.value)


def test_training_a_users_model_leaves_the_data_set_alone():
    words = torch.randint(2, 9, (8, 3), dtype=torch.int32)
    split = Split(words, torch.arange(8) % 2)
    vectors = torch.randn(9, 4)
    data = Dataset("texts", "text", 2, split, split, split, {}, {"vectors": vectors})
    before = vectors.clone()
    model = build_model(data, {"width": 5}, OwnModel(factory="my_nets:build", dropout=0.0))
    torch.nn.functional.cross_entropy(model(words), split.labels).backward()
    torch.optim.SGD(model.parameters(), lr=1.0).step()
    assert not torch.equal(model.module.embedding.weight, before)
    assert torch.equal(vectors, before)


def training(dataset, batch_size=16):
    settings = {"configurations": 1, "epochs": 4, "reselect_every": 2, "search_space": {}}
    protocol = Protocol(model=own("build", kind="Noisy"), batch_size=batch_size, **settings)
    plan = SubsetPlan(Full(), 1.0)
    return TrainingRun(dataset, {"learning_rate": 0.1}, protocol, plan, 0, torch.device("cpu"))


@pytest.mark.parametrize("batch_size", [17, 7])  # of 120 rows both leave one over
def test_batch_normalisation_meets_no_batch_of_one(dataset, batch_size):
    run = training(dataset, batch_size)
    run.train_to(2)
    assert run.progress.failure is None
    assert run.progress.samples == 2 * 120
    torch.manual_seed(99)  # dropout follows the run and the epoch, not this
    half, resumed = training(dataset, batch_size), training(dataset, batch_size)
    half.train_to(1)
    resumed.restore(half.state())
    resumed.train_to(2)
    assert resumed.progress.training_loss == run.progress.training_loss
