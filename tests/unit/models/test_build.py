"""Models by name, and the user's own by their factory."""

import sys

import pytest
import torch
from torch import nn

from automata.config import OwnModel
from automata.errors import UserError
from automata.models.build import OwnClassifier, build_model, load_factory
from automata.models.mlp import Mlp

NETS = '''
from torch import nn
import torch

class Net(nn.Module):
    """Its own forward is not what logits are."""

    def __init__(self, inputs, width, classes):
        super().__init__()
        self.body = nn.Linear(inputs, width)
        self.head = nn.Linear(width, classes)

    def features(self, inputs):
        return torch.relu(self.body(inputs))

class Grouped(Net):
    def parameter_groups(self):
        return {"slow": [*self.body.parameters()], "fast": [*self.head.parameters()]}

def build(dataset, configuration, width=5, kind=Net, classes=None):
    return kind(dataset.train.inputs.shape[1], width, classes or dataset.classes)

def grouped(dataset, configuration):
    return build(dataset, configuration, kind=Grouped)

def headless(dataset, configuration):
    return nn.Identity()

def nothing(dataset, configuration):
    return None

def wide(dataset, configuration):
    net = build(dataset, configuration)
    net.features = lambda inputs: inputs
    return net

CONSTANT = 3
'''


@pytest.fixture(autouse=True)
def nets(tmp_path, monkeypatch):
    """A module `users_nets` that can be imported."""
    (tmp_path / "users_nets.py").write_text(NETS)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("users_nets", None)


def own(factory, **options):
    return OwnModel(factory=f"users_nets:{factory}", **options)


def test_a_name_builds_the_model_of_that_name(dataset, configuration):
    assert isinstance(build_model(dataset, configuration, "mlp"), Mlp)


def test_a_users_logits_are_head_of_features(dataset, configuration):
    model = build_model(dataset, configuration, own("build"))
    inputs = dataset.train.inputs[:7]
    expected = model.module.head(model.module.features(inputs))
    assert isinstance(model, OwnClassifier)
    torch.testing.assert_close(model(inputs), expected)
    assert model.head is model.module.head


def test_options_reach_the_factory(dataset, configuration):
    assert build_model(dataset, configuration, own("build", width=9)).head.in_features == 9


def test_every_parameter_is_there_once(dataset, configuration):
    model = build_model(dataset, configuration, own("build"))
    assert len(list(model.parameters())) == len(model.state_dict()) == 4


def test_a_users_parameter_groups_are_taken(dataset, configuration):
    groups = build_model(dataset, configuration, own("grouped")).parameter_groups()
    assert {name: len(members) for name, members in groups.items()} == {"slow": 2, "fast": 2}


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (OwnModel(factory="no_such_package.nets:build"), "cannot import no_such_package.nets: No"),
        (own("biuld"), "users_nets has no function biuld; it has .*build"),
        (own("CONSTANT"), "users_nets has no function CONSTANT"),
        (own("headless"), r"the module needs features\(inputs\) and head, an nn.Linear"),
        (own("nothing"), "returned NoneType, not a torch.nn.Module"),
        (own("build", classes=7), "head has 7 outputs, clouds has 3 classes"),
        (own("wide"), r"features of 2 rows are \(2, 6\), not \(2, 5\)"),
    ],
)
def test_a_factory_that_does_not_do_is_one_line(dataset, configuration, model, expected):
    with pytest.raises(UserError, match=expected) as error:
        build_model(dataset, configuration, model)
    assert str(error.value).startswith(f"protocol.*.model.factory: {model.factory}: ")
    assert "\n" not in str(error.value)


def test_an_error_inside_the_users_module_names_it(tmp_path, monkeypatch):
    (tmp_path / "broken_nets.py").write_text("import package_that_is_not_there\n")
    with pytest.raises(UserError, match="broken_nets: No module named 'package_that_is_not_there'"):
        load_factory(OwnModel(factory="broken_nets:build"))


def test_checking_a_users_model_changes_nothing(dataset, configuration):
    torch.manual_seed(3)
    plain = nn.Linear(6, 5)
    torch.manual_seed(3)
    model = build_model(dataset, configuration, own("build"))
    torch.testing.assert_close(model.module.body.weight, plain.weight)
    assert model.training
