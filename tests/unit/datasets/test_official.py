"""Readers of official files: which rows are in which split, and that no code in them is run."""

import io
import itertools
import pickle
import struct
import tarfile
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import savemat
from sklearn.datasets import load_svmlight_file

from automata.datasets import official as readers
from automata.datasets.raw import split_rows
from automata.errors import UserError

SPLITS = ["train", "validation", "test"]
NUMBERS = range(1, 41)
"""Numbers of the training rows of small files; each row shows its own, which gives its label."""

COARSE = ["ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"]


class Python2Pickler(pickle._Pickler):
    """Writes protocol 2 as Python 2 did: text and bytes are both its byte strings."""

    dispatch = dict(pickle._Pickler.dispatch)

    def save_string(self, value):
        data = value.encode() if isinstance(value, str) else value
        self.write(pickle.BINSTRING + struct.pack("<i", len(data)) + data)
        self.memoize(value)

    def save_global(self, value, name=None):
        module = "numpy.core.multiarray" if value.__name__ == "_reconstruct" else value.__module__
        self.write(pickle.GLOBAL + f"{module}\n{value.__name__}\n".encode())
        self.memoize(value)

    dispatch[str] = save_string
    dispatch[bytes] = save_string
    dispatch[type] = save_global


def python2(value):
    written = io.BytesIO()
    Python2Pickler(written, protocol=2).dump(value)
    return written.getvalue()


def python2_names():
    """Return the names of ten classes in protocol 0, as in the official archive."""
    names = "".join(f"S'thing {label}'\na" for label in range(10))
    return f"(dp0\nS'label_names'\np1\n(lp2\n{names}s.".encode()


def pixels(numbers):
    """Return the images of a CIFAR file, (n, 3072), whose first value is the row's number."""
    images = np.random.default_rng(0).integers(0, 256, (len(numbers), 3072), dtype=np.uint8)
    images[:, 0] = numbers
    return images


def archived(folder, members):
    """Return a tar.gz, whose members have not the order of their names, as the official one."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as archive:
        for name, content in reversed(members.items()):
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return written.getvalue()


def batch10(numbers):
    return {"labels": [n % 10 for n in numbers], "data": pixels(numbers)}


def cifar10(**changed):
    """Return the file of CIFAR-10 with changed members."""
    batches = {f"data_batch_{n}": NUMBERS[8 * n - 8 : 8 * n] for n in range(1, 6)}
    members = {name: python2(batch10(numbers)) for name, numbers in batches.items()}
    members |= {"test_batch": python2(batch10([7, 8])), "batches.meta": python2_names()}
    members["readme.html"] = b"<html></html>"
    return {"cifar-10-python.tar.gz": archived("cifar-10-batches-py", members | changed)}


def cifar100():
    def batch(numbers):
        labels = {"fine_labels": [99 - n for n in numbers], "coarse_labels": [0] * len(numbers)}
        return python2({**labels, "data": pixels(numbers)})

    names = {f"{kind}_label_names": [f"{kind} {n}" for n in range(100)] for kind in ("fine", "big")}
    members = {"train": batch(NUMBERS), "test": batch([7, 8]), "meta": python2(names)}
    return {"cifar-100-python.tar.gz": archived("cifar-100-python", members)}


def digits(numbers):
    """Return the images of an SVHN file, (32, 32, 3, n)."""
    images = np.random.default_rng(0).integers(0, 256, (32, 32, 3, len(numbers)), np.uint8)
    images[0, 0, 0] = numbers
    return images


def svhn():
    def matlab(numbers):
        labels = np.array([[n % 10 or 10] for n in numbers], np.uint8)  # 10 is the digit 0
        written = io.BytesIO()
        savemat(written, {"X": digits(numbers), "y": labels})
        return written.getvalue()

    return {"train_32x32.mat": matlab(NUMBERS), "test_32x32.mat": matlab([7, 8])}


def glue(end="\n"):
    train = [f"sentence number{n} Is fine \t{n % 2}" for n in NUMBERS]
    tables = {"train": train, "dev": ["it 's bleak \t0", "number7 \t1"]}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("SST-2/test.tsv", b"\xff")  # no UTF-8: nobody may read it
        for name, rows in tables.items():
            text = end.join(["sentence\tlabel", *rows, ""])
            archive.writestr(f"SST-2/{name}.tsv", text)
    return {"SST-2.zip": packed.getvalue()}


def trec(*test):
    train = "".join(f"{COARSE[n % 6]}:fine{n} Who number{n} ?\n" for n in NUMBERS)
    questions = "".join(test or ["NUM:dist How far is it ?\n"])
    return {"train_5500.label": train.encode(), "TREC_10.label": questions.encode("iso-8859-1")}


def connect4():
    """Return lines of which each has its number in a feature."""
    return {"connect-4": "".join(f"{n % 3 - 1} 1:{n} 126:1\n" for n in NUMBERS).encode()}


def read(folder, name, files):
    """Return the splits of official files with these contents."""
    paths = {file: folder / file for file in files}
    for file, path in paths.items():
        path.write_bytes(files[file])
    raw = getattr(readers, name)({"glue": "glue-sst2", "trec": "trec6"}.get(name, name), paths)
    assert {*folder.iterdir()} == {*paths.values()}, "an archive was unpacked"
    return raw


def numbers_of(inputs):
    """Return the number of each row."""
    if isinstance(inputs, list):
        return [int(words[1].removeprefix("number")) for words in inputs]
    if inputs.ndim == 4:
        return inputs[:, 0, 0, 0].tolist()
    return inputs[:, 0].astype(int).tolist()


@pytest.mark.parametrize(
    ("name", "files", "class_of", "sizes"),
    [
        ("connect4", connect4, lambda n: str(n % 3 - 1), (28, 4, 8)),
        ("glue", glue, lambda n: ["negative", "positive"][n % 2], (38, 2, 2)),
        ("trec", trec, lambda n: COARSE[n % 6], (36, 4, 1)),
        ("svhn", svhn, lambda n: str(n % 10), (36, 4, 2)),
        ("cifar10", cifar10, lambda n: f"thing {n % 10}", (36, 4, 2)),
        ("cifar100", cifar100, lambda n: f"fine {99 - n}", (36, 4, 2)),
    ],
)
def test_every_training_row_is_in_one_split_with_its_class(tmp_path, name, files, class_of, sizes):
    raw = read(tmp_path, name, files())
    drawn = {"connect4": SPLITS, "glue": ["train", "test"]}.get(name, ["train", "validation"])
    found = [numbers_of(getattr(raw, split).inputs) for split in drawn]
    assert sorted(itertools.chain(*found)) == [*NUMBERS]
    assert tuple(len(getattr(raw, split)) for split in SPLITS) == sizes
    for split, numbers in zip(drawn, found, strict=True):
        labels = getattr(raw, split).labels
        assert labels.dtype == np.int64
        assert [raw.classes[label] for label in labels] == [class_of(n) for n in numbers]


@pytest.mark.parametrize("order", [np.ascontiguousarray, np.asfortranarray])
def test_pixels_of_cifar_are_at_their_places(tmp_path, order):
    data = pixels([7, 8])
    batch = python2({**batch10([7, 8]), "data": order(data)})
    found = read(tmp_path, "cifar10", cifar10(test_batch=batch)).test.inputs
    # A row of the file is 1024 red values, then green and blue ones, each line by line.
    row, channel, y, x = np.indices((2, 3, 32, 32))
    np.testing.assert_array_equal(found, data[row, 1024 * channel + 32 * y + x], strict=True)


def test_pixels_of_svhn_are_at_their_places(tmp_path):
    row, channel, y, x = np.indices((2, 3, 32, 32))
    expected = digits([7, 8])[y, x, channel, row]
    found = read(tmp_path, "svhn", svhn()).test.inputs
    np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize(
    ("member", "module", "name"),
    [
        ("data_batch_1", "os", "system"),
        ("test_batch", "__builtin__", "eval"),
        ("batches.meta", "numpy", "load"),
        ("test_batch", "numpy", "ndarray.tofile"),
        ("test_batch", "numpy.core.multiarray", "fromfile"),
    ],
)
def test_code_in_an_archive_is_refused_and_not_run(tmp_path, member, module, name, capfd):
    call = f"c{module}\n{name}\n(S\"print('run')\"\ntR.".encode()
    with pytest.raises(UserError, match=rf"CIFAR: expected .* found: a call of {module}.{name}"):
        read(tmp_path, "cifar10", cifar10(**{member: call}))
    assert capfd.readouterr() == ("", "")


names = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1)


@given(module=st.sampled_from(["numpy", "numpy.core.multiarray", "os", "sys"]) | names, name=names)
def test_only_three_names_are_ever_looked_up(module, name):
    if name not in {"_reconstruct", "ndarray", "dtype"}:
        with pytest.raises(UserError):
            readers._ArraysOnly(io.BytesIO()).find_class(module, name)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_sentences_of_glue_are_lower_case_words_whatever_ends_a_line(tmp_path, end):
    raw = read(tmp_path, "glue", glue(end))
    assert raw.train.inputs[0][2:] == ["is", "fine"]
    assert raw.validation.inputs == [["it", "'s", "bleak"], ["number7"]]
    assert raw.validation.labels.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("NUM:dist How far ?\n", ["how", "far", "?"]),
        ("HUM:ind Who was Bu\xf1uel ?\n", ["who", "was", "bu\xf1uel", "?"]),
        ("HUM:ind Who was\x85here ?\n", ["who", "was", "here", "?"]),
        ("HUM:ind Who ?\r\n", ["who", "?"]),
    ],
    ids=["lower case", "Latin-1", "a line ends at a line feed alone", "Windows"],
)
def test_words_of_trec_are_those_after_the_class(tmp_path, line, words):
    raw = read(tmp_path, "trec", trec(line))
    assert raw.test.inputs == [words]
    assert [raw.classes[label] for label in raw.test.labels] == [line.partition(":")[0]]


def training_rows(raw):
    """Return train and validation rows together: (n, d) and (n,)."""
    inputs = np.vstack([raw.train.inputs, raw.validation.inputs]).astype(np.float64)
    return inputs, np.concatenate([raw.train.labels, raw.validation.labels])


@pytest.mark.parametrize(
    ("name", "lowest", "highest", "training", "test"),
    [
        ("dna", 0, 1, [464, 485, 1051], [303, 280, 603]),
        ("satimage", 27, 157, [1072, 479, 961, 415, 470, 1038], [461, 224, 397, 211, 237, 470]),
    ],
)
def test_packaged_rows_have_the_known_values_and_classes(name, lowest, highest, training, test):
    raw = readers.packaged(name, {})
    features, labels = training_rows(raw)
    assert (features.min(), features.max()) == (lowest, highest)
    np.testing.assert_array_equal(features, np.rint(features))
    assert (raw.test.inputs.dtype, raw.test.labels.dtype) == (np.float32, np.int64)
    assert (np.bincount(labels).tolist(), np.bincount(raw.test.labels).tolist()) == (training, test)


def test_split_keeps_its_published_first_rows():
    """Another numpy that drew other numbers would silently change every result."""
    train, rest = split_rows(4435, 3104)
    assert train[:5].tolist() == [1719, 512, 2391, 4333, 4113]
    np.testing.assert_array_equal(np.sort(np.concatenate([train, rest])), np.arange(4435))


@pytest.mark.parametrize(
    ("name", "split", "file"),
    [
        ("dna", "train", "dna.scale.tr"),
        ("dna", "validation", "dna.scale.val"),
        ("dna", "test", "dna.scale.t"),
        ("satimage", "train and validation", "satimage.scale"),
        ("satimage", "test", "satimage.scale.t"),
        ("letter", "train", "letter.scale.tr"),
        ("letter", "validation", "letter.scale.val"),
        ("letter", "test", "letter.scale.t"),
    ],
)
def test_packaged_rows_are_those_of_libsvms_file(official, name, split, file):
    raw = readers.packaged(name, {})
    known, known_labels = training_rows(raw)
    if split in SPLITS:
        features, labels = getattr(raw, split).inputs, getattr(raw, split).labels
    else:  # as stored, before they are drawn
        stored = np.argsort(np.concatenate(split_rows(len(known), len(raw.train))))
        features, labels = known[stored], known_labels[stored]
    if name != "dna":  # LIBSVM scaled by the range of all training rows to [-1, 1]
        low, high = known.min(axis=0), known.max(axis=0)
        features = 2 * (features.astype(np.float64) - low) / (high - low) - 1
    expected, expected_labels = load_svmlight_file(
        official(file)[file], n_features=features.shape[1]
    )
    # LIBSVM prints six significant digits.
    np.testing.assert_allclose(features, expected.toarray(), rtol=5.01e-6, atol=1e-12)
    np.testing.assert_array_equal(labels, expected_labels - 1)
