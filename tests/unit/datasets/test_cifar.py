"""CIFAR: archives of Python 2 pickles, in which nothing is run."""

from __future__ import annotations

import io
import pickle
import struct
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from automata.datasets.official import _ArraysOnly, cifar10, cifar100
from automata.datasets.raw import Images, RawSplits
from automata.errors import UserError

Obtain = Callable[[dict[str, bytes]], dict[str, Path]]
ROWS = 8
CIFAR10 = [f"data_batch_{number}" for number in range(1, 6)] + ["test_batch"]


class Python2Pickler(pickle._Pickler):
    """Writes protocol 2 as Python 2 did: text and bytes are both its byte strings."""

    dispatch = dict(pickle._Pickler.dispatch)

    def save_string(self, value: str | bytes) -> None:
        data = value.encode() if isinstance(value, str) else value
        self.write(pickle.BINSTRING + struct.pack("<i", len(data)) + data)
        self.memoize(value)

    def save_global(self, value: Any, name: str | None = None) -> None:
        module = "numpy.core.multiarray" if value.__name__ == "_reconstruct" else value.__module__
        self.write(pickle.GLOBAL + f"{module}\n{value.__name__}\n".encode())
        self.memoize(value)

    dispatch[str] = save_string
    dispatch[bytes] = save_string
    dispatch[type] = save_global


def python2(value: Any) -> bytes:
    written = io.BytesIO()
    Python2Pickler(written, protocol=2).dump(value)
    return written.getvalue()


def pixels(rows: int = ROWS, seed: int = 0) -> NDArray[np.uint8]:
    """Return `data` as the files have it, (rows, 3072)."""
    return np.random.default_rng(seed).integers(0, 256, (rows, 3072), dtype=np.uint8)


def batch10(seed: int, rows: int = ROWS) -> dict[str, Any]:
    return {
        "batch_label": f"training batch {seed}",
        "labels": [(seed + row) % 10 for row in range(rows)],
        "data": pixels(rows, seed),
        "filenames": [f"image_{seed}_{row}.png" for row in range(rows)],
    }


def batch100(seed: int, rows: int) -> dict[str, Any]:
    return {
        "filenames": [f"image_{seed}_{row}.png" for row in range(rows)],
        "batch_label": f"batch {seed}",
        "fine_labels": [99 - row for row in range(rows)],
        "coarse_labels": [row % 20 for row in range(rows)],
        "data": pixels(rows, seed),
    }


def meta10() -> dict[str, Any]:
    names = [f"thing {label}" for label in range(10)]
    return {"num_cases_per_batch": ROWS, "label_names": names, "num_vis": 3072}


def meta100() -> dict[str, Any]:
    return {
        "fine_label_names": [f"fine {label}" for label in range(100)],
        "coarse_label_names": [f"coarse {label}" for label in range(20)],
    }


def packed(folder: str, members: dict[str, bytes | None]) -> bytes:
    """Return a tar.gz with a folder; members that are None are left out."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as archive:
        directory = tarfile.TarInfo(folder)
        directory.type = tarfile.DIRTYPE
        archive.addfile(directory)
        for name, content in members.items():
            if content is not None:
                entry = tarfile.TarInfo(f"{folder}/{name}")
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return written.getvalue()


def archive10(**changed: bytes | None) -> bytes:
    """Return cifar-10-python.tar.gz in its official format, with changed members."""
    members: dict[str, bytes | None] = {
        "batches.meta": python2(meta10()),
        # Not in the order of their numbers: neither is the official archive.
        **{name: python2(batch10(seed)) for seed, name in reversed(list(enumerate(CIFAR10)))},
        "readme.html": b"<html></html>",
    }
    members.update({name.replace("__", "."): content for name, content in changed.items()})
    return packed("cifar-10-batches-py", members)


def archive100() -> bytes:
    return packed(
        "cifar-100-python",
        {
            "meta": python2(meta100()),
            "test": python2(batch100(1, 10)),
            "train": python2(batch100(0, 30)),
            "file.txt~": b"",
        },
    )


def load10(obtain: Obtain, content: bytes) -> RawSplits[Images]:
    return cifar10("cifar10", obtain({"cifar-10-python.tar.gz": content}))


@pytest.fixture
def ten(obtain: Obtain) -> RawSplits[Images]:
    return load10(obtain, archive10())


@pytest.fixture
def hundred(obtain: Obtain) -> RawSplits[Images]:
    return cifar100("cifar100", obtain({"cifar-100-python.tar.gz": archive100()}))


def test_files_of_these_tests_are_pickles_that_python_reads() -> None:
    read = pickle.loads(python2(batch10(3)), encoding="bytes")
    np.testing.assert_array_equal(read[b"data"], pixels(seed=3))


def test_cifar10_takes_a_tenth_for_validation(ten: RawSplits[Images]) -> None:
    assert (len(ten.train), len(ten.validation), len(ten.test)) == (36, 4, 8)


def test_cifar100_takes_a_tenth_for_validation(hundred: RawSplits[Images]) -> None:
    assert (len(hundred.train), len(hundred.validation), len(hundred.test)) == (27, 3, 10)


def test_images_are_uint8_with_channels_first(ten: RawSplits[Images]) -> None:
    assert (ten.train.inputs.dtype, ten.train.inputs.shape) == (np.uint8, (36, 3, 32, 32))


@pytest.mark.parametrize(("row", "channel", "y", "x"), [(0, 0, 0, 0), (3, 1, 5, 9), (7, 2, 31, 30)])
def test_pixel_is_at_its_place(
    ten: RawSplits[Images], row: int, channel: int, y: int, x: int
) -> None:
    # A row of the file is 1024 red values, then green and blue ones, each line by line.
    expected = pixels(seed=5)[row, 1024 * channel + 32 * y + x]
    assert ten.test.inputs[row, channel, y, x] == expected


def test_test_labels_are_those_of_the_test_batch(ten: RawSplits[Images]) -> None:
    assert ten.test.labels.tolist() == batch10(5)["labels"]


def known_rows() -> dict[bytes, int]:
    """Return the label of each training image by its bytes."""
    batches = [batch10(seed) for seed in range(5)]
    return {
        image.tobytes(): label
        for batch in batches
        for image, label in zip(batch["data"], batch["labels"], strict=True)
    }


def test_every_training_image_is_in_one_split_with_its_label(ten: RawSplits[Images]) -> None:
    found = {
        image.tobytes(): int(label)
        for rows in (ten.train, ten.validation)
        for image, label in zip(rows.inputs, rows.labels, strict=True)
    }
    assert found == known_rows()


def test_cifar100_has_the_fine_labels(hundred: RawSplits[Images]) -> None:
    assert hundred.test.labels.tolist() == list(range(99, 89, -1))


def test_classes_have_the_names_of_the_archive(ten: RawSplits[Images]) -> None:
    assert ten.classes == meta10()["label_names"]


def test_cifar100_has_the_fine_names(hundred: RawSplits[Images]) -> None:
    assert hundred.classes == meta100()["fine_label_names"]


def test_nothing_is_extracted(obtain: Obtain) -> None:
    paths = obtain({"cifar-10-python.tar.gz": archive10()})
    cifar10("cifar10", paths)
    folder = paths["cifar-10-python.tar.gz"].parent
    assert not [path for path in folder.iterdir() if "batch" in path.name]


def test_names_in_the_oldest_protocol_are_read(obtain: Obtain) -> None:
    names = "".join(f"S'name{label}'\na" for label in range(10))
    meta = f"(dp0\nS'label_names'\np1\n(lp2\n{names}s.".encode()
    expected = [f"name{label}" for label in range(10)]
    assert load10(obtain, archive10(batches__meta=meta)).classes == expected


class Call:
    """An object whose pickle calls a function when it is read."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.reduced = (function, arguments)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self.reduced


def by_hand(module: str, name: str) -> bytes:
    """Return a pickle that calls module.name("x")."""
    return f"c{module}\n{name}\n(S'x'\ntR.".encode()


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("__builtin__", "eval"),
        ("numpy", "load"),
        ("numpy", "ndarray.tofile"),
        ("numpy.core.multiarray", "fromfile"),
        ("numpy.core", "multiarray"),
        ("_codecs", "encode"),
        ("copyreg", "_reconstructor"),
    ],
)
def test_any_other_global_is_refused_by_its_name(obtain: Obtain, module: str, name: str) -> None:
    with pytest.raises(UserError, match=rf"CIFAR: expected .* found: a call of {module}.{name}"):
        load10(obtain, archive10(test_batch=by_hand(module, name)))


@pytest.mark.parametrize("member", ["data_batch_1", "test_batch", "batches__meta"])
def test_code_in_any_member_is_not_run(
    obtain: Obtain, member: str, capsys: pytest.CaptureFixture[str]
) -> None:
    content = pickle.dumps({"data": Call(eval, "print('run')")}, protocol=2)
    with pytest.raises(UserError, match=r"a call of __builtin__\.eval"):
        load10(obtain, archive10(**{member: content}))
    assert capsys.readouterr().out == ""


ALLOWED = {"_reconstruct", "ndarray", "dtype"}
names = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1)


@given(module=st.sampled_from(["numpy", "numpy.core.multiarray", "os", "sys"]) | names, name=names)
def test_no_name_but_three_is_ever_looked_up(module: str, name: str) -> None:
    unpickler = _ArraysOnly(io.BytesIO())
    if name not in ALLOWED:
        with pytest.raises(UserError):
            unpickler.find_class(module, name)


def test_array_in_the_order_of_fortran_is_the_same_array(obtain: Obtain) -> None:
    batch = python2({**batch10(5), "data": np.asfortranarray(pixels(seed=5))})
    expected = pixels(seed=5).reshape(-1, 3, 32, 32)
    np.testing.assert_array_equal(load10(obtain, archive10(test_batch=batch)).test.inputs, expected)
