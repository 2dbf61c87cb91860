"""Readers of official files: which rows are in which split, and that no code in them is run."""

import hashlib
import io
import itertools
import pickle
import pickletools
import tarfile
import zipfile

import numpy as np
import pytest
from scipy.io import savemat

from automata.datasets.official import readers
from automata.errors import UserError

SPLITS = ["train", "validation", "test"]
NUMBERS = range(1, 41)
"""Numbers of the training rows of small files; each row shows its own, which gives its label."""

COARSE = ["ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"]


def python2(value):
    """Return a pickle as Python 2 wrote it: bytes are its strings."""
    written = bytearray(pickle.dumps(value, 3).replace(b"numpy._core", b"numpy.core"))
    for opcode, _, place in pickletools.genops(bytes(written)):
        if opcode.name in ("BINBYTES", "SHORT_BINBYTES"):
            written[place] = ord({"B": "T", "C": "U"}[opcode.code])
    return bytes(written)


def pixels(numbers):
    """Return the images of a CIFAR file, (n, 3072), whose first value is the row's number."""
    images = np.random.default_rng(0).integers(0, 256, (len(numbers), 3072), dtype=np.uint8)
    images[:, 0] = numbers
    return images


def cifar(**changed):
    """Return a file with all members of CIFAR-10 and of CIFAR-100, some of them changed."""
    rows = {"train": NUMBERS, "test": [7, 8], "test_batch": [7, 8]}
    rows |= {f"data_batch_{n}": NUMBERS[8 * n - 8 : 8 * n] for n in range(1, 6)}
    members = {
        member: {
            b"data": pixels(numbers),
            b"labels": [n % 10 for n in numbers],
            b"fine_labels": [99 - n for n in numbers],
            b"coarse_labels": [0] * len(numbers),
        }
        for member, numbers in rows.items()
    }
    members["batches.meta"] = {b"label_names": [b"thing %d" % label for label in range(10)]}
    members["meta"] = {b"fine_label_names": [b"fine %d" % label for label in range(100)]}
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as archive:
        for member, value in members.items():
            content = changed.get(member, python2(value))
            entry = tarfile.TarInfo(f"cifar-batches-py/{member}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return {"cifar-python.tar.gz": written.getvalue()}


def digits(numbers):
    """Return the images of an SVHN file, (32, 32, 3, n)."""
    images = np.random.default_rng(0).integers(0, 256, (32, 32, 3, len(numbers)), np.uint8)
    images[0, 0, 0] = numbers
    return images


def svhn():
    files = {"train_32x32.mat": NUMBERS, "test_32x32.mat": [7, 8]}
    for file, numbers in files.items():
        labels = np.array([[n % 10 or 10] for n in numbers], np.uint8)  # 10 is the digit 0
        written = io.BytesIO()
        savemat(written, {"X": digits(numbers), "y": labels})
        files[file] = written.getvalue()
    return files


def glue():
    train = [f"sentence Number{n} is fine \t{n % 2}" for n in NUMBERS]
    tables = {"train": train, "dev": ["it 's bleak \t0", "number7 \t1"]}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("SST-2/test.tsv", b"\xff")  # no UTF-8: nobody may read it
        for name, rows in tables.items():
            archive.writestr(f"SST-2/{name}.tsv", "\r\n".join(["sentence\tlabel", *rows, ""]))
    return {"SST-2.zip": packed.getvalue()}


def trec():
    train = "".join(f"{COARSE[n % 6]}:fine{n} Who Number{n} ?\n" for n in NUMBERS)
    test = b"HUM:ind Who was\x85Bu\xf1uel ?\r\n"  # in Latin-1; \x85 ends no line
    return {"train_5500.label": train.encode(), "TREC_10.label": test}


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
        ("cifar10", cifar, lambda n: f"thing {n % 10}", (36, 4, 2)),
        ("cifar100", cifar, lambda n: f"fine {99 - n}", (36, 4, 2)),
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


ROW, CHANNEL, Y, X = np.indices((2, 3, 32, 32))


@pytest.mark.parametrize(
    ("name", "files", "expected"),
    [
        # A row of CIFAR is 1024 red values, then green and blue ones, each line by line.
        ("cifar10", cifar, pixels([7, 8])[ROW, 1024 * CHANNEL + 32 * Y + X]),
        ("svhn", svhn, digits([7, 8])[Y, X, CHANNEL, ROW]),
    ],
)
def test_pixels_are_at_their_places(tmp_path, name, files, expected):
    found = read(tmp_path, name, files()).test.inputs
    np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize(
    ("member", "module", "name"),
    [
        ("data_batch_1", "os", "system"),
        ("batches.meta", "numpy", "load"),
        ("test_batch", "numpy", "ndarray.tofile"),
        ("test_batch", "numpy.core.multiarray", "fromfile"),
    ],
)
def test_code_in_an_archive_is_refused_and_not_run(tmp_path, member, module, name, capfd):
    call = f"c{module}\n{name}\n(S\"print('run')\"\ntR.".encode()
    with pytest.raises(UserError, match=rf"CIFAR: expected .* found: a call of {module}.{name}"):
        read(tmp_path, "cifar10", cifar(**{member: call}))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("dna", "cd86bd34667c51d3c64d2ad3d6b363b55d996801db3e0501"),
        ("satimage", "bd9da5c8588a48d228d4b5d11424792360a9c6e1b0c56f86"),
        ("letter", "b503605ee2bcfed15de12f005e3f01b7761801609c3cedfa"),
    ],
)
def test_packaged_rows_are_those_that_were_compared_with_libsvms_files(name, digest):
    """The digests (their first 48 digits) were computed when all rows equalled LIBSVM's."""
    raw, total = readers.packaged(name, {}), hashlib.sha256()
    for rows in (raw.train, raw.validation, raw.test):
        total.update(rows.inputs.tobytes() + rows.labels.tobytes())
    assert total.hexdigest().startswith(digest)
