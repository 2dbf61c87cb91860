"""The models against their equations, published sizes and other ways to compute them."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn.functional import batch_norm, conv2d

from automata.datasets.prepared import Split
from automata.models.nets import (
    BasicBlock,
    Bottleneck,
    ConvNet,
    LstmClassifier,
    convnet,
    lstm,
    mlp,
    resnet18,
    resnet50,
)

WORDS, DIMENSION, HIDDEN, CLASSES = 30, 5, 6, 3
SENTENCES = [[4, 9, 2], [7], [3, 3, 28, 1, 12, 5, 6, 29], [1, 2], [8, 4, 11, 10, 9]]


def noise(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(6), dtype=torch.float64)


# MLP


def test_built_mlp_has_the_sizes_of_data_and_configuration(dataset, configuration):
    sizes = {**configuration, "hidden1": 11, "hidden2": 9}
    shapes = [tuple(weight.shape) for weight in mlp(dataset, sizes).parameters()]
    assert shapes == [(11, 6), (11,), (9, 11), (9,), (3, 9), (3,)]
    model = mlp(dataset, {**sizes, "dropout": 0.5})
    assert [part.p for part in model.modules() if isinstance(part, nn.Dropout)] == [0.5]
    inputs = dataset.train.inputs[:9]
    assert not torch.equal(model(inputs), model(inputs))
    assert torch.equal(model.eval()(inputs), model(inputs))
    assert len(model.state_dict()) == 6


# LSTM


def padded(sentences, columns=8):
    rows = [sentence + [0] * (columns - len(sentence)) for sentence in sentences]
    return torch.tensor(rows, dtype=torch.int32)


@pytest.fixture(params=[1, 2], ids=["one layer", "two layers"])
def model(request):
    torch.manual_seed(2)
    return LstmClassifier(torch.randn(WORDS, DIMENSION), HIDDEN, request.param, CLASSES)


def recurrence(model, sentence):
    """Return the last state by the equations of nn.LSTM, one word and layer at a time."""
    inputs = [model.embedding.weight[word] for word in sentence]
    for layer in range(model.lstm.num_layers):
        w_ih, w_hh, b_ih, b_hh = model.lstm.all_weights[layer]
        h = c = torch.zeros(HIDDEN, dtype=w_ih.dtype)
        outputs = []
        for x in inputs:
            i, f, g, o = (w_ih @ x + b_ih + w_hh @ h + b_hh).split(HIDDEN)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            outputs.append(h)
        inputs = outputs
    return h


@pytest.mark.parametrize("columns", [8, 48])
def test_features_are_the_state_after_the_last_word_whatever_the_padding(model, columns):
    model.double()
    inputs = padded([[], *SENTENCES], columns)
    expected = torch.stack([recurrence(model, row) for row in [[1], *SENTENCES]])
    torch.testing.assert_close(model.features(inputs), expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(model(inputs), model.head(expected))
    assert torch.equal(inputs, padded([[], *SENTENCES], columns))


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_words_are_trained_but_not_padding_nor_the_vectors_of_the_data_set(decay):
    vectors = torch.ones(WORDS, DIMENSION)
    model = LstmClassifier(vectors, HIDDEN, 1, CLASSES)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1, weight_decay=decay, fused=True)
    model(padded(SENTENCES)).sum().backward()
    moved = model.embedding.weight.grad.abs().sum(dim=1).nonzero().flatten().tolist()
    assert moved == sorted({word for sentence in SENTENCES for word in sentence})
    optimizer.step()
    assert not model.embedding.weight[0].any()
    assert (model.embedding.weight[moved] != 1).all()
    assert (vectors == 1).all()


@pytest.mark.parametrize(
    ("given", "layers", "dropout"), [({}, 1, []), ({"layers": 2, "dropout": 0.5}, 2, [0.5])]
)
def test_built_lstm_has_the_sizes_of_data_and_configuration(dataset, given, layers, dropout):
    vectors = torch.randn(WORDS, DIMENSION)
    model = lstm(replace(dataset, extras={"vectors": vectors}), {"hidden": 11, **given})
    sizes = (model.lstm.input_size, model.lstm.hidden_size, model.lstm.num_layers)
    assert (*sizes, model.head.out_features) == (DIMENSION, 11, layers, CLASSES)
    assert torch.equal(model.embedding.weight[1:], vectors[1:])
    assert [part.p for part in model.modules() if isinstance(part, nn.Dropout)] == dropout
    inputs = padded(SENTENCES)
    assert torch.equal(model(inputs), model(inputs)) is (not dropout)


# The small convolutional net


def test_convnet_is_the_net_of_the_published_runs(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "docs/examples")
    from small_convnet import SmallConvNet

    model = with_random_statistics(ConvNet(3, 24, 32, 10))
    published = SmallConvNet(3, 24 * 32, 10).double().eval()
    values = zip(published.state_dict(), model.state_dict().values(), strict=True)
    published.load_state_dict(dict(values))
    inputs = noise(2, 3, 24, 32)
    torch.testing.assert_close(model.features(inputs), published.features(inputs))


@pytest.mark.parametrize(
    ("shape", "parts"), [((1, 8, 8), 1), ((3, 9, 17), 2 * 3), ((1, 28, 28), 4 * 4), ((3, 1, 64), 8)]
)
def test_convnet_takes_any_size_and_number_of_channels(dataset, shape, parts):
    rows = torch.zeros(2, *shape, dtype=torch.uint8)
    split = Split(rows, torch.zeros(2, dtype=torch.int64))
    model = convnet(replace(dataset, kind="image", classes=7, train=split), {}).double().eval()
    features = model.features(inputs := noise(5, *shape))
    assert features.shape == (5, 64 * parts)
    expected = features @ model.head.weight.T + model.head.bias
    assert expected.shape == (5, 7)
    torch.testing.assert_close(model(inputs), expected)


# ResNets


@pytest.fixture
def images(dataset):
    """Ten classes of 32x32 images, of which only the shape counts here."""
    split = Split(torch.zeros(2, 3, 32, 32, dtype=torch.uint8), torch.zeros(2, dtype=torch.int64))
    return replace(dataset, kind="image", classes=10, train=split)


def with_random_statistics(module):
    """Make batch normalisation do something that a mistake would show in."""
    torch.manual_seed(7)
    for part in module.modules():
        if isinstance(part, nn.BatchNorm2d):
            nn.init.normal_(part.weight)
            nn.init.normal_(part.bias)
            nn.init.normal_(part.running_mean)
            nn.init.uniform_(part.running_var, 0.5, 2)
    return module.double().eval()


def normalised(state, name, maps):
    mean, variance = state[f"{name}.running_mean"], state[f"{name}.running_var"]
    return batch_norm(maps, mean, variance, state[f"{name}.weight"], state[f"{name}.bias"])


def shortcut_of(state, x, stride):
    if "shortcut.0.weight" not in state:
        return x
    picked = x[:, :, ::stride, ::stride]  # what a 1x1 convolution with a stride sees
    maps = torch.einsum("oi,nihw->nohw", state["shortcut.0.weight"][:, :, 0, 0], picked)
    return normalised(state, "shortcut.1", maps)


@pytest.mark.parametrize(
    ("inputs", "width", "stride"), [(8, 8, 1), (6, 8, 1), (8, 16, 2), (32, 8, 1), (32, 8, 2)]
)
@pytest.mark.parametrize(
    ("kind", "sizes", "strided"), [(BasicBlock, [3, 3], 0), (Bottleneck, [1, 3, 1], 1)]
)
def test_block_is_convolutions_and_a_shortcut(kind, sizes, strided, inputs, width, stride):
    block = with_random_statistics(kind(inputs, width, stride))
    state, x = block.state_dict(), noise(2, inputs, 8, 8)
    y = x
    for place, size in enumerate(sizes):
        steps = stride if place == strided else 1
        y = y.clamp(min=0) if place else y
        y = conv2d(y, state[f"body.{3 * place}.weight"], stride=steps, padding=size // 2)
        y = normalised(state, f"body.{3 * place + 1}", y)
    torch.testing.assert_close(block(x), (y + shortcut_of(state, x, stride)).clamp(min=0))


@pytest.mark.parametrize(
    ("build", "count", "expansion"), [(resnet18, 11_173_962, 1), (resnet50, 23_520_842, 4)]
)
def test_resnets_have_the_published_parameters_and_stages(images, build, count, expansion):
    """Each stage but the first doubles the channels and halves height and width."""
    model = build(images, {}).eval()
    assert sum(p.numel() for p in model.parameters()) == count
    maps = model.stem(torch.zeros(1, 3, 32, 32))
    shapes = []
    for stage in (model.layer1, model.layer2, model.layer3, model.layer4):
        maps = stage(maps)
        shapes.append((maps.shape[1] // expansion, maps.shape[2]))
    assert shapes == [(64, 32), (128, 16), (256, 8), (512, 4)]


@pytest.mark.parametrize("build", [resnet18, resnet50])
def test_groups_are_the_papers_parts_of_the_network(images, build):
    model = build(images, {})
    groups = model.parameter_groups()
    parts = {"lr1": "stem layer1", "lr2": "layer2 layer3", "lr3": "layer4", "lr4": "head"}
    assert groups.keys() == parts.keys()
    for name, named in parts.items():
        expected = [p for part in named.split() for p in getattr(model, part).parameters()]
        assert list(map(id, groups[name])) == list(map(id, expected))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_cpu_and_gpu_agree(images, model):
    cases = [(model, padded([[], *SENTENCES])), (resnet18(images, {}), noise(2, 3, 32, 32))]
    for net, inputs in cases:
        expected = net.double().eval()(inputs)
        found = net.to("cuda")(inputs.to("cuda")).cpu()
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)
