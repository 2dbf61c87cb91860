"""Word vectors from each kind of file, and what is said of a broken one."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from automata.datasets.vectors import read_vectors
from automata.errors import UserError

WORDS = ["the", "n't", "animé", "unread"]
TABLE = np.array([[0.5, -1, 2], [1e-3, 0, 3], [4, 5, -6.25], [7, 8, 9]], dtype=np.float32)
WANTED = {"the", "n't", "animé", "absent"}


def line(word: str, vector: np.ndarray) -> str:
    return " ".join([word, *map(repr, vector.tolist())]) + "\n"


TEXT = "".join(map(line, WORDS, TABLE))


def write_txt(folder: Path, text: str = TEXT) -> Path:
    path = folder / "vectors.txt"
    path.write_bytes(text.encode())
    return path


def write_zip(folder: Path, members: dict[str, str] | None = None) -> Path:
    path = folder / "vectors.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in (members or {"six.2d.txt": "the 1 2\n", "six.3d.txt": TEXT}).items():
            archive.writestr(name, text)
    return path


def write_npz(folder: Path, words: object = WORDS, vectors: object = TABLE) -> Path:
    path = folder / "vectors.npz"
    np.savez(path, words=np.asarray(words), vectors=np.asarray(vectors))
    return path


WRITERS = [write_txt, write_zip, write_npz]


@pytest.fixture(params=WRITERS, ids=[".txt", ".zip", ".npz"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return request.param(tmp_path)


def test_vectors_are_those_of_the_file(path: Path) -> None:
    found = read_vectors(path, 3, WANTED)
    np.testing.assert_array_equal([found[word] for word in WORDS[:3]], TABLE[:3])


def test_only_wanted_words_are_kept(path: Path) -> None:
    assert set(read_vectors(path, 3, WANTED)) == set(WORDS[:3])


def test_vectors_are_float32(path: Path) -> None:
    assert read_vectors(path, 3, WANTED)["the"].dtype == np.float32


def test_nothing_wanted_finds_nothing(path: Path) -> None:
    assert read_vectors(path, 3, set()) == {}


@pytest.mark.parametrize("dimension", [1, 4])
def test_other_dimension_is_an_error(path: Path, dimension: int) -> None:
    with pytest.raises(UserError, match=re.escape(str(path))):
        read_vectors(path, dimension, WANTED)


def test_suffix_may_be_in_capitals(tmp_path: Path) -> None:
    path = write_txt(tmp_path).rename(tmp_path / "VECTORS.TXT")
    assert len(read_vectors(path, 3, WANTED)) == 3


def test_word_with_spaces_is_one_word(tmp_path: Path) -> None:
    path = write_txt(tmp_path, TEXT + ". . . 1 2 3\n")
    np.testing.assert_array_equal(read_vectors(path, 3, {". . ."})[". . ."], [1, 2, 3])


def test_word_with_spaces_does_not_pass_for_its_last_part(tmp_path: Path) -> None:
    path = write_txt(tmp_path, TEXT + "at home 1 2 3\n")
    assert read_vectors(path, 3, {"home", "at"}) == {}


def test_no_break_space_belongs_to_the_word(tmp_path: Path) -> None:
    path = write_txt(tmp_path, TEXT + "8\N{NO-BREAK SPACE}1/2 1 2 3\n")
    assert set(read_vectors(path, 3, {"8\N{NO-BREAK SPACE}1/2"})) == {"8\N{NO-BREAK SPACE}1/2"}


def test_unicode_line_separator_does_not_break_a_line(tmp_path: Path) -> None:
    path = write_txt(tmp_path, TEXT + "a\N{NEXT LINE}b 1 2 3\n")
    assert set(read_vectors(path, 3, {"a\N{NEXT LINE}b"})) == {"a\N{NEXT LINE}b"}


@pytest.mark.parametrize("end", ["\r\n", " \n", "\t\n"])
def test_white_space_at_the_end_of_a_line_is_ignored(tmp_path: Path, end: str) -> None:
    path = write_txt(tmp_path, TEXT.replace("\n", end))
    np.testing.assert_array_equal(read_vectors(path, 3, WANTED)["the"], TABLE[0])


def test_last_line_may_lack_its_end(tmp_path: Path) -> None:
    path = write_txt(tmp_path, TEXT.rstrip())
    np.testing.assert_array_equal(read_vectors(path, 3, {"unread"})["unread"], TABLE[3])


@pytest.mark.parametrize(
    "write",
    [
        lambda folder: write_txt(folder, TEXT + "the 9 9 9\n"),
        lambda folder: write_npz(folder, [*WORDS, "the"], [*TABLE, [9, 9, 9]]),
    ],
    ids=[".txt", ".npz"],
)
def test_first_vector_of_a_word_counts(tmp_path: Path, write) -> None:
    found = read_vectors(write(tmp_path), 3, WANTED)
    np.testing.assert_array_equal(found["the"], TABLE[0])


def test_zip_file_chooses_the_member_by_dimension(tmp_path: Path) -> None:
    np.testing.assert_array_equal(read_vectors(write_zip(tmp_path), 2, WANTED)["the"], [1, 2])


def test_member_with_a_path_is_read_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    path = write_zip(tmp_path / "in", {"../../evil.2d.txt": "the 1 2\n"})
    np.testing.assert_array_equal(read_vectors(path, 2, WANTED)["the"], [1, 2])
    assert [file.name for file in tmp_path.rglob("*")] == ["in", "vectors.zip"]


def test_zip_file_is_not_unpacked(tmp_path: Path) -> None:
    path = write_zip(tmp_path)
    read_vectors(path, 3, WANTED)
    assert list(tmp_path.iterdir()) == [path]


def test_half_precision_vectors_become_float32(tmp_path: Path) -> None:
    path = write_npz(tmp_path, vectors=TABLE.astype(np.float16))
    assert read_vectors(path, 3, WANTED)["the"].dtype == np.float32


def broken_npz(folder: Path, **arrays: object) -> Path:
    path = folder / "vectors.npz"
    np.savez(path, **arrays)  # type: ignore[arg-type]
    return path


def raw_file(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda f: raw_file(f, "v.bin", b""), "expected .txt, .zip or .npz, found '.bin'"),
        (lambda f: f / "absent.txt", "No such file"),
        (lambda f: write_txt(f, ""), "expected lines of a word and 3 numbers, found none"),
        (lambda f: write_txt(f, "400000 3\n"), "line 1: expected a word and 3 numbers, found 1 n"),
        (
            lambda f: write_txt(f, TEXT + "a 1 2\n"),
            "line 5: expected a word and 3 numbers, found 2",
        ),
        (lambda f: write_txt(f, TEXT + "\n"), "line 5: expected a word and 3 numbers, found 0"),
        (
            lambda f: write_txt(f, TEXT + "absent 1 x 3\n"),
            "could not convert string to float: b'x'",
        ),
        (lambda f: write_txt(f, TEXT + "absent 1 nan 3\n"), "'absent': expected finite numbers"),
        (lambda f: write_txt(f, TEXT + "absent 1 2 1e39\n"), "'absent': .*found inf"),
        (lambda f: write_zip(f, {"six.9d.txt": ""}), r"ends with .3d.txt, found \[\]"),
        (
            lambda f: write_zip(f, {"a.3d.txt": TEXT, "b.3d.txt": TEXT}),
            "'a.3d.txt', 'b.3d.txt'",
        ),
        (lambda f: write_zip(f, {"six.3d.txt": "a 1\n"}), "line 1: expected a word"),
        (
            lambda f: raw_file(f, "v.zip", b"no archive"),
            "word vectors: File is not a zip",
        ),
        (lambda f: raw_file(f, "v.npz", b""), "not readable as word vectors"),
        (lambda f: raw_file(f, "v.npz", b"no archive"), "not readable as word vectors"),
        (lambda f: broken_npz(f, words=WORDS), "vectors is not a file"),
        (lambda f: broken_npz(f, vectors=TABLE), "words is not a file"),
        (lambda f: write_npz(f, words=np.array(WORDS, object)), "Object arrays cannot be loaded"),
        (
            lambda f: write_npz(f, words=[[word] for word in WORDS]),
            r"found .*\(4, 1\)",
        ),
        (lambda f: write_npz(f, words=range(4)), "strings `words` .*found int64"),
        (lambda f: write_npz(f, words=WORDS[:2]), r"\(2,\) and float32 \(4, 3\)"),
        (lambda f: write_npz(f, vectors=TABLE[:, :2]), r"\(n, 3\), found .* float32 \(4, 2\)"),
        (lambda f: write_npz(f, vectors=TABLE * np.nan), "expected finite numbers, found nan"),
    ],
)
def test_broken_file_is_an_error_that_says_what_is_wrong(
    tmp_path: Path, write, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        read_vectors(write(tmp_path), 3, WANTED)


def test_cut_off_archive_is_an_error(tmp_path: Path) -> None:
    whole = write_zip(tmp_path).read_bytes()
    with pytest.raises(UserError, match="not readable as word vectors"):
        read_vectors(raw_file(tmp_path, "cut.zip", whole[:-30]), 3, WANTED)


def test_corrupt_archive_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "corrupt.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("six.3d.txt", TEXT)
    path.write_bytes(path.read_bytes().replace(b"the 0.5", b"the 0.6"))
    with pytest.raises(UserError, match="not readable as word vectors: Bad CRC"):
        read_vectors(path, 3, WANTED)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(
    words=st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\n "), min_size=1),
        min_size=1,
        max_size=5,
        unique=True,
    ),
    data=st.data(),
)
def test_any_words_come_back_from_text(
    tmp_path: Path, words: list[str], data: st.DataObject
) -> None:
    number = st.floats(-1e6, 1e6, width=32)
    vectors = data.draw(
        st.lists(st.lists(number, min_size=2, max_size=2), min_size=len(words), max_size=len(words))
    )
    text = "".join(map(line, words, np.array(vectors, dtype=np.float32)))
    found = read_vectors(write_txt(tmp_path, text), 2, words)
    np.testing.assert_array_equal([found[word] for word in words], vectors)
