"""The LSTM: exact whatever the padding, and trained as the paper's is."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, pad

from automata.datasets.prepared import Dataset, Split
from automata.models.nets import LstmClassifier
from automata.models.nets import lstm as build

WORDS, DIMENSION, HIDDEN, CLASSES = 30, 5, 6, 3
SENTENCES = [[4, 9, 2], [7], [3, 3, 28, 1, 12, 5, 6, 29], [1, 2], [8, 4, 11, 10, 9]]


def padded(sentences: list[list[int]], columns: int = 8) -> Tensor:
    rows = [sentence + [0] * (columns - len(sentence)) for sentence in sentences]
    return torch.tensor(rows, dtype=torch.int32)


def create(layers: int = 1) -> LstmClassifier:
    torch.manual_seed(2)
    return LstmClassifier(torch.randn(WORDS, DIMENSION), HIDDEN, layers, CLASSES)


@pytest.fixture(params=[1, 2], ids=["one layer", "two layers"])
def model(request: pytest.FixtureRequest) -> LstmClassifier:
    return create(request.param)


@pytest.fixture
def texts(dataset: Dataset) -> Dataset:
    split = Split(padded(SENTENCES), torch.arange(5) % CLASSES)
    vectors = {"vectors": torch.randn(WORDS, DIMENSION)}
    return replace(dataset, kind="text", train=split, extras=vectors)


def recurrence(model: LstmClassifier, sentence: list[int]) -> Tensor:
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


@pytest.mark.parametrize("sentence", SENTENCES, ids=str)
def test_features_are_the_state_after_the_last_word(
    model: LstmClassifier, sentence: list[int]
) -> None:
    model.double()
    found = model.features(padded(SENTENCES))[SENTENCES.index(sentence)]
    torch.testing.assert_close(found, recurrence(model, sentence), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("sentence", SENTENCES, ids=str)
def test_the_lstm_of_pytorch_on_the_sentence_alone_gives_the_same(
    model: LstmClassifier, sentence: list[int]
) -> None:
    _, (states, _) = model.lstm(model.embedding(torch.tensor([sentence])))
    found = model.features(padded(SENTENCES))[SENTENCES.index(sentence)]
    torch.testing.assert_close(found, states[-1, 0], rtol=1e-6, atol=1e-6)


TOLERANCES = [(torch.float32, 1e-6), (torch.float64, 1e-14)]


@pytest.mark.parametrize(("dtype", "tolerance"), TOLERANCES, ids=str)
def test_a_sentence_scores_the_same_alone_and_among_longer_ones(
    model: LstmClassifier, dtype: torch.dtype, tolerance: float
) -> None:
    model.to(dtype)
    together = model(padded(SENTENCES))
    alone = torch.cat([model(padded([sentence])) for sentence in SENTENCES])
    torch.testing.assert_close(together, alone, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("dtype", "tolerance"), TOLERANCES, ids=str)
def test_more_padding_columns_change_no_score(
    model: LstmClassifier, dtype: torch.dtype, tolerance: float
) -> None:
    model.to(dtype)
    inputs = padded(SENTENCES)
    torch.testing.assert_close(
        model(pad(inputs, (0, 40))), model(inputs), rtol=tolerance, atol=tolerance
    )


def test_the_vector_of_padding_never_matters(model: LstmClassifier) -> None:
    before = model(padded(SENTENCES))
    model.embedding.weight.data[0] = 1e6
    assert torch.equal(model(padded(SENTENCES)), before)


@pytest.mark.parametrize("columns", [1, 8])
def test_a_row_without_words_is_one_unknown_word(model: LstmClassifier, columns: int) -> None:
    empty = torch.zeros(1, columns, dtype=torch.int32)
    torch.testing.assert_close(model(empty), model(padded([[1]])))


def test_a_row_without_words_changes_no_other_row(model: LstmClassifier) -> None:
    found = model.double()(padded([[], *SENTENCES]))
    torch.testing.assert_close(found[1:], model(padded(SENTENCES)), rtol=1e-14, atol=1e-14)


def test_inputs_are_left_as_they_are(model: LstmClassifier) -> None:
    inputs = padded([[], *SENTENCES])
    before = inputs.clone()
    model(inputs)
    assert torch.equal(inputs, before)


def test_padding_has_no_gradient_and_words_of_the_batch_do(model: LstmClassifier) -> None:
    model(padded(SENTENCES)).sum().backward()
    gradient = model.embedding.weight.grad
    assert gradient is not None
    moved = gradient.abs().sum(dim=1).nonzero().flatten().tolist()
    assert moved == sorted({word for sentence in SENTENCES for word in sentence})


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_the_vector_of_padding_stays_zero_in_training(model: LstmClassifier, decay: float) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1, weight_decay=decay, fused=True)
    model(padded(SENTENCES)).sum().backward()
    optimizer.step()
    assert not model.embedding.weight[0].any()


def test_training_leaves_the_vectors_of_the_data_set_alone() -> None:
    vectors = torch.ones(WORDS, DIMENSION)
    model = LstmClassifier(vectors, HIDDEN, 1, CLASSES)
    model.embedding.weight.data += 1
    assert (vectors == 1).all()


def test_sentences_decided_by_one_word_are_learnt(model: LstmClassifier) -> None:
    """Words 2 and 3 decide, wherever they stand; the others are noise."""
    generator = torch.Generator().manual_seed(5)
    words = torch.randint(4, WORDS, (90, 8), generator=generator)
    lengths = torch.randint(1, 9, (90,), generator=generator)
    labels = torch.arange(90) % CLASSES
    where = (torch.rand(90, generator=generator) * lengths).long()
    decisive = torch.tensor([2, 3, 4])[labels]
    words[torch.arange(90), where] = decisive
    words[words.eq(4) & labels.ne(2)[:, None]] = 5
    words[torch.arange(8) >= lengths[:, None]] = 0
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    for _ in range(80):
        optimizer.zero_grad()
        cross_entropy(model(words.int()), labels).backward()
        optimizer.step()
    assert torch.equal(model(words.int()).argmax(dim=1), labels)


def test_logits_are_the_head_of_the_features(model: LstmClassifier) -> None:
    inputs = padded(SENTENCES)
    torch.testing.assert_close(model(inputs), model.head(model.features(inputs)))


@pytest.mark.parametrize(("given", "layers"), [({}, 1), ({"layers": 2}, 2)], ids=str)
def test_a_built_model_has_the_sizes_of_data_and_configuration(
    texts: Dataset, given: dict[str, int], layers: int
) -> None:
    model = build(texts, {"hidden": 11, **given})
    sizes = (model.lstm.input_size, model.lstm.hidden_size, model.lstm.num_layers)
    assert (*sizes, model.head.out_features) == (DIMENSION, 11, layers, CLASSES)


def test_a_built_model_starts_from_the_vectors_of_the_data(texts: Dataset) -> None:
    model = build(texts, {"hidden": 11})
    assert torch.equal(model.embedding.weight[1:], texts.extras["vectors"][1:])


def test_vectors_are_trained() -> None:
    assert create().embedding.weight.requires_grad


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_cpu_and_gpu_agree(model: LstmClassifier) -> None:
    inputs = padded([[], *SENTENCES])
    expected = model.double()(inputs)
    found = model.to("cuda")(inputs.to("cuda")).cpu()
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)
