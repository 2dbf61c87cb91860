"""Word vectors from each kind of file, and the errors about broken ones."""

import zipfile

import numpy as np
import pytest

from automata.datasets.official.vectors import read_vectors
from automata.errors import UserError

WORDS = ["the", "n't", "anim\u00e9", "unread"]
TABLE = np.array([[0.5, -1, 2], [1e-3, 0, 3], [4, 5, -6.25], [7, 8, 9]], dtype=np.float32)
WANTED = {"the", "n't", "anim\u00e9", "absent"}


def line(word, vector):
    return " ".join([word, *map(repr, vector.tolist())]) + "\n"


TEXT = "".join(map(line, WORDS, TABLE))


def write(folder, content, name="vectors.txt"):
    """Write text, bytes, or by name the members of a zip file or the arrays of an npz file."""
    path = folder / name
    if isinstance(content, str | bytes):
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    elif path.suffix == ".npz":
        np.savez(path, **content)
    else:
        with zipfile.ZipFile(path, "w") as archive:
            for member, text in content.items():
                archive.writestr(member, text)
    return path


def arrays(**changes):
    """Return the arrays of the table with `changes`."""
    return {"words": WORDS, "vectors": TABLE} | changes


ZIP = {"../six.2d.txt": "the 1 2\n", "../six.3d.txt": f"{TEXT}the 9 9 9\n"}
NPZ = arrays(words=[*WORDS, "the"], vectors=[*TABLE, np.array([9, 9, 9])])


@pytest.mark.parametrize(
    ("name", "content"),
    [("VECTORS.TXT", f"{TEXT}the 9 9 9\n"), ("v.zip", ZIP), ("v.npz", NPZ)],
)
def test_vectors_of_wanted_words_are_those_of_the_file_and_the_first_counts(
    tmp_path, name, content
):
    path = write(tmp_path, content, name)
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
        ("a\u00a0b\u2028\x85 1 2 3\n", {"a\u00a0b\u2028\x85"}, {"a\u00a0b\u2028\x85"}),
        ("at home 1 2 3\n", {"home", "at"}, set()),
        ("end 1 2 3", {"end"}, {"end"}),
        ("end 1 2 3 \r\n", {"end"}, {"end"}),
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
        (TEXT + "absent 1 2 1e39\n", "v.txt", "'absent': .*found inf"),
        ({"six.9d.txt": ""}, "v.zip", r"ends with .3d.txt, found \[\]"),
        ({"words": WORDS}, "v.npz", "vectors is not a file"),
        (arrays(words=np.array(WORDS, object)), "v.npz", "Object arrays cannot be loaded"),
        (arrays(words=range(4)), "v.npz", "strings `words` .*found int64"),
        (arrays(vectors=TABLE[:, :2]), "v.npz", r"\(n, 3\), found .* float32 \(4, 2\)"),
    ],
)
def test_broken_file_is_an_error_that_says_what_is_wrong(tmp_path, content, name, message):
    with pytest.raises(UserError, match=message):
        read_vectors(write(tmp_path, content, name), 3, WANTED)
