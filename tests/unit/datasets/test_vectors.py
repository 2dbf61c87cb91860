"""Word vectors from each kind of file, and what is said of a broken one."""

import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata.datasets.vectors import read_vectors
from automata.errors import UserError

WORDS = ["the", "n't", "anim\u00e9", "unread"]
TABLE = np.array([[0.5, -1, 2], [1e-3, 0, 3], [4, 5, -6.25], [7, 8, 9]], dtype=np.float32)
WANTED = {"the", "n't", "anim\u00e9", "absent"}


def line(word, vector):
    return " ".join([word, *map(repr, vector.tolist())]) + "\n"


TEXT = "".join(map(line, WORDS, TABLE))


def write(folder, content, name="vectors.txt"):
    """Write text, bytes, or the members of a zip file by name."""
    path = folder / name
    if isinstance(content, str | bytes):
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path
    with zipfile.ZipFile(path, "w") as archive:
        for member, text in content.items():
            archive.writestr(member, text)
    return path


def write_npz(folder, **arrays):
    np.savez(folder / "vectors.npz", **arrays)
    return folder / "vectors.npz"


def of_words(folder, suffix, *more):
    """Write a file of one kind with the table, and further words with their vectors."""
    if suffix == ".npz":
        vectors = [*TABLE, *(vector for _, vector in more)]
        return write_npz(folder, words=[*WORDS, *(word for word, _ in more)], vectors=vectors)
    text = TEXT + "".join(line(word, np.array(vector)) for word, vector in more)
    if suffix == ".zip":
        return write(folder, {"../six.2d.txt": "the 1 2\n", "../six.3d.txt": text}, "vectors.zip")
    return write(folder, text, f"VECTORS{suffix}")


@pytest.mark.parametrize("suffix", [".TXT", ".zip", ".npz"])
def test_vectors_of_wanted_words_are_those_of_the_file_and_the_first_counts(tmp_path, suffix):
    path = of_words(tmp_path, suffix, ("the", [9, 9, 9]))
    found = read_vectors(path, 3, WANTED)
    assert set(found) == set(WORDS[:3])
    np.testing.assert_array_equal([found[word] for word in WORDS[:3]], TABLE[:3])
    assert found["the"].dtype == np.float32
    assert [*tmp_path.iterdir()] == [path], "an archive was unpacked"
    with pytest.raises(UserError, match=path.name):
        read_vectors(path, 4, WANTED)


@pytest.mark.parametrize(
    ("more", "wanted", "found"),
    [
        (". . . 1 2 3\n", {". . ."}, {". . ."}),
        ("at home 1 2 3\n", {"home", "at"}, set()),
        ("end 1 2 3", {"end"}, {"end"}),
        *[(f"end 1 2 3{end}", {"end"}, {"end"}) for end in ("\r\n", " \n", "\t\n")],
    ],
)
def test_odd_words_and_ends_of_lines_are_read(tmp_path, more, wanted, found):
    vectors = read_vectors(write(tmp_path, TEXT + more), 3, wanted)
    assert vectors.keys() == found
    assert all(vector.tolist() == [1, 2, 3] for vector in vectors.values())


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("", "v.bin", "expected .txt, .zip or .npz, found '.bin'"),
        ("", "v.txt", "expected lines of a word and 3 numbers, found none"),
        ("400000 3\n", "v.txt", "line 1: expected a word and 3 numbers, found 1 n"),
        (TEXT + "a 1 2\n", "v.txt", "line 5: expected a word and 3 numbers, found 2"),
        (TEXT + "absent 1 x 3\n", "v.txt", "could not convert string to float: b'x'"),
        (TEXT + "absent 1 2 1e39\n", "v.txt", "'absent': .*found inf"),
        ({"six.9d.txt": ""}, "v.zip", r"ends with .3d.txt, found \[\]"),
        ({"a.3d.txt": TEXT, "b.3d.txt": TEXT}, "v.zip", "'a.3d.txt', 'b.3d.txt'"),
        ("no archive", "v.zip", "word vectors: File is not a zip"),
        ("no archive", "v.npz", "not readable as word vectors"),
    ],
)
def test_broken_file_is_an_error_that_says_what_is_wrong(tmp_path, content, name, message):
    with pytest.raises(UserError, match=message):
        read_vectors(write(tmp_path, content, name), 3, WANTED)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"vectors": None}, "vectors is not a file"),
        ({"words": None}, "words is not a file"),
        ({"words": np.array(WORDS, object)}, "Object arrays cannot be loaded"),
        ({"words": range(4)}, "strings `words` .*found int64"),
        ({"words": WORDS[:2]}, r"\(2,\) and float32 \(4, 3\)"),
        ({"vectors": TABLE[:, :2]}, r"\(n, 3\), found .* float32 \(4, 2\)"),
    ],
)
def test_arrays_that_are_no_vectors_are_an_error(tmp_path, arrays, message):
    given_arrays = {"words": WORDS, "vectors": TABLE} | arrays
    path = write_npz(tmp_path, **{k: it for k, it in given_arrays.items() if it is not None})
    with pytest.raises(UserError, match=message):
        read_vectors(path, 3, WANTED)


def test_damaged_archive_is_an_error(tmp_path):
    path = of_words(tmp_path, ".zip")
    path.write_bytes(path.read_bytes().replace(b"the 0.5", b"the 0.6"))
    with pytest.raises(UserError, match="not readable as word vectors: Bad CRC"):
        read_vectors(path, 3, WANTED)


WORD = st.text(st.characters(codec="utf-8", exclude_characters="\n "), min_size=1)
PAIR = st.lists(st.floats(-1e6, 1e6, width=32), min_size=2, max_size=2)


@given(st.dictionaries(WORD, PAIR, min_size=1, max_size=5))
def test_any_words_come_back_from_text(tmp_path_factory, vectors):
    text = "".join(line(word, np.array(vector)) for word, vector in vectors.items())
    found = read_vectors(write(tmp_path_factory.mktemp("v"), text), 2, vectors)
    assert {word: vector.tolist() for word, vector in found.items()} == vectors
