"""A user's images: arrays and folders, and what is refused."""

import hashlib
import io
import os
import zipfile

import numpy as np
import pytest
from PIL import Image

from automata.config.data import OwnImage
from automata.datasets.own import load
from automata.errors import UserError

SPLITS = ["train", "validation", "test"]


def colours(count, height=4, width=5, channels=(3,)):
    return np.random.default_rng(0).integers(0, 256, (count, height, width, *channels), np.uint8)


def alternating(count, names=("cat", "dog")):
    return np.array([names[i % len(names)] for i in range(count)])


def stored(path, **arrays):
    np.savez(path, **arrays)
    return str(path)


def classes_in(folder, images, labels, suffix=".png"):
    """Save images into a folder per class, named by their number, and return the path."""
    for number, (image, label) in enumerate(zip(images, labels, strict=True)):
        (folder / str(label)).mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(folder / str(label) / f"{number:03}{suffix}")
    return str(folder)


def loaded(path, **others):
    return load("mine", OwnImage(kind="image", path=path, **others))


def whole(path):
    """Load with the same file as validation and test, so that no row leaves training."""
    return loaded(path, validation=path, test=path)


@pytest.fixture
def folder(tmp_path):
    """A folder of images that can be spoilt: three cats and three dogs."""
    classes_in(tmp_path / "pets", colours(6), alternating(6))
    return tmp_path / "pets"


@pytest.mark.parametrize("channels", [(3,), (1,), ()])
def test_arrays_become_channels_first(tmp_path, channels):
    images = colours(4, channels=channels)
    path = stored(tmp_path / "a.npz", images=images, labels=alternating(4))
    expected = np.broadcast_to(images.reshape(4, 4, 5, -1), (4, 4, 5, 3)).transpose(0, 3, 1, 2)
    np.testing.assert_array_equal(whole(path).train.inputs, expected)


@pytest.mark.parametrize("split", SPLITS)
def test_inputs_are_contiguous_bytes(tmp_path, split):
    path = stored(tmp_path / "a.npz", images=colours(20), labels=alternating(20))
    inputs = getattr(loaded(path), split).inputs
    assert (inputs.dtype, inputs.flags.c_contiguous) == (np.uint8, True)


@pytest.mark.parametrize(
    ("names", "classes"),
    [(("dog", "cat"), ["cat", "dog"]), ((10, 9), ["9", "10"]), ((True, False), ["False", "True"])],
)
def test_labels_are_whole_numbers_or_strings(tmp_path, names, classes):
    raw = whole(stored(tmp_path / "a.npz", images=colours(4), labels=alternating(4, names)))
    assert raw.classes == classes
    assert raw.train.labels.tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize("suffix", [".png", ".bmp", ".PNG"])
def test_folder_gives_the_images_by_class_and_name(tmp_path, suffix):
    images, labels = colours(6), alternating(6)
    raw = whole(classes_in(tmp_path / "pets", images, labels, suffix))
    expected = np.concatenate([images[labels == "cat"], images[labels == "dog"]])
    np.testing.assert_array_equal(raw.train.inputs, expected.transpose(0, 3, 1, 2))
    assert raw.train.labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert raw.classes == ["cat", "dog"]


@pytest.mark.parametrize("suffix", [".jpg", ".jpeg", ".webp"])
def test_lossy_images_are_read(tmp_path, suffix):
    images = np.full((4, 8, 8, 3), 200, np.uint8)
    raw = whole(classes_in(tmp_path / "pets", images, alternating(4), suffix))
    assert raw.train.inputs == pytest.approx(np.full((4, 3, 8, 8), 200), abs=3)


def test_grey_files_have_three_equal_channels(tmp_path):
    images = colours(4, channels=())
    raw = whole(classes_in(tmp_path / "pets", images, ["a", "a", "b", "b"]))
    np.testing.assert_array_equal(raw.train.inputs, np.stack([images] * 3, axis=1))


def test_drawn_splits_have_every_image_once(tmp_path):
    images = np.arange(40, dtype=np.uint8).repeat(6).reshape(40, 2, 3)
    raw = loaded(stored(tmp_path / "a.npz", images=images, labels=alternating(40)))
    found = np.concatenate([getattr(raw, split).inputs[:, 0, 0, 0] for split in SPLITS])
    np.testing.assert_array_equal(np.sort(found), np.arange(40))
    np.testing.assert_array_equal(raw.train.labels, raw.train.inputs[:, 0, 0, 0] % 2)


def test_files_may_be_of_either_form(tmp_path, folder):
    path = stored(tmp_path / "a.npz", images=colours(2), labels=np.array(["dog", "cat"]))
    raw = loaded(str(folder), validation=path, test=str(folder))
    assert raw.validation.labels.tolist() == [1, 0]
    assert len(raw.test) == 6


def test_hidden_files_do_not_count(folder):
    before = whole(str(folder))
    (folder / ".DS_Store").write_text("x")
    (folder / "cat/.thumbs").write_text("x")
    (folder / ".cache/deep").mkdir(parents=True)
    (folder / ".cache/deep/x.txt").write_text("x")
    after = whole(str(folder))
    assert (after.files, len(after.train)) == (before.files, 6)


def test_record_says_source_and_files(tmp_path):
    path = tmp_path / "a.npz"
    stored(path, images=colours(6), labels=alternating(6))
    raw = loaded(str(path))
    assert raw.source == "own file a.npz"
    assert raw.files == {str(path): hashlib.sha256(path.read_bytes()).hexdigest()}
    assert raw.facts["rows_by_class"]["test"] == {"cat": 1, "dog": 1}


def test_folder_has_one_checksum_whatever_it_is_called(tmp_path, folder):
    before = whole(str(folder))
    after = whole(str(folder.rename(tmp_path / "animals")))
    assert list(before.files.values()) == list(after.files.values())
    assert (after.source, len(after.files)) == ("own file animals", 1)


@pytest.mark.parametrize(
    ("old", "new"), [("cat/000.png", "cat/001.png"), ("cat/000.png", "dog/000.png")]
)
def test_checksum_of_a_folder_changes_with_names_and_contents(folder, old, new):
    before = whole(str(folder)).files
    content = (folder / old).read_bytes()
    (folder / new).write_bytes(content)
    assert whole(str(folder)).files != before


@pytest.mark.parametrize(
    "images",
    [
        colours(4).transpose(0, 3, 1, 2)[:, :, :, :2],
        colours(4, channels=(4,)),
        colours(4)[0, 0],
        colours(4, height=0),
        colours(4).astype(np.float32),
        colours(4).astype(np.int64),
    ],
)
def test_arrays_that_are_no_images_are_refused_with_the_valid_shapes(tmp_path, images):
    path = stored(tmp_path / "a.npz", images=images, labels=alternating(4))
    with pytest.raises(UserError, match=r"a\.npz: `images` must .*\(n, height, width, 3\).*found"):
        loaded(path)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (np.arange(3), r"shape \(4,\), .* found \(3,\)"),
        (np.zeros((4, 1), int), r"found \(4, 1\)"),
        (np.array([0.5, 1, 0, 1]), "whole numbers or strings; found float64"),
        (np.array(["a", "", "b", "c"]), "number 1 is empty"),
    ],
)
def test_labels_that_are_no_classes_are_refused(tmp_path, labels, expected):
    path = stored(tmp_path / "a.npz", images=colours(4), labels=labels)
    with pytest.raises(UserError, match=rf"a\.npz: `labels`.*{expected}"):
        loaded(path)


@pytest.mark.parametrize("absent", ["images", "labels"])
def test_absent_array_is_refused_with_those_that_are_there(tmp_path, absent):
    arrays = {"images": colours(4), "labels": alternating(4), "more": np.zeros(1)}
    del arrays[absent]
    with pytest.raises(UserError, match=rf"a\.npz: array `{absent}` is missing.*found: .*more"):
        loaded(stored(tmp_path / "a.npz", **arrays))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and no more", b"text", b"\x93NUMPY"])
def test_damaged_arrays_are_refused(tmp_path, content):
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(UserError, match=r"\A.*a\.npz: not a readable \.npz file: .*\Z"):
        loaded(str(tmp_path / "a.npz"))


def test_one_array_under_the_name_of_several_is_refused(tmp_path):
    with (tmp_path / "a.npz").open("wb") as file:
        np.save(file, colours(4))
    with pytest.raises(UserError, match=r"a\.npz: not a readable \.npz file"):
        loaded(str(tmp_path / "a.npz"))


def test_array_larger_than_any_memory_is_refused(tmp_path):
    header = io.BytesIO()
    shape = {"descr": "|u1", "fortran_order": False, "shape": (2**50, 32, 32, 3)}
    np.lib.format.write_array_header_1_0(header, shape)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("labels.npy", b"")
        archive.writestr("images.npy", header.getvalue())
    with pytest.raises(UserError, match=r"a\.npz: not a readable \.npz file: "):
        load("mine", OwnImage(kind="image", path=str(tmp_path / "a.npz")))


def test_image_that_unpacks_to_too_many_pixels_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 50)
    (tmp_path / "a").mkdir()
    Image.new("RGB", (16, 16)).save(tmp_path / "a/bomb.png")
    with pytest.raises(UserError, match=r"a/bomb\.png: not a readable image: .*bomb"):
        load("mine", OwnImage(kind="image", path=str(tmp_path)))


def test_pickled_objects_are_never_loaded(tmp_path):
    labels = np.array(["a", "b", None, "c"], dtype=object)
    with pytest.raises(UserError, match=r"a\.npz: not a readable \.npz file: .*allow_pickle"):
        loaded(stored(tmp_path / "a.npz", images=colours(4), labels=labels))


def test_other_file_is_refused(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"")
    with pytest.raises(UserError, match=r"own_datasets\.mine\.path: '\S*a\.zip' is neither"):
        loaded(str(tmp_path / "a.zip"))


@pytest.mark.parametrize("content", [b"", b"text", "cut", "flipped"])
def test_damaged_image_is_refused_by_its_name(folder, content):
    file = folder / "dog/003.png"
    whole_file = file.read_bytes()
    spoilt = {"cut": whole_file[:60], "flipped": whole_file[:20] + b"\xff" + whole_file[21:]}
    file.write_bytes(spoilt.get(content, content))
    with pytest.raises(UserError, match=r"\A\S*dog/003\.png: not a readable image: .*\Z"):
        loaded(str(folder))


def test_image_of_16_bits_is_refused(folder):
    Image.fromarray(np.zeros((4, 5), np.uint16)).save(folder / "cat/000.png")
    with pytest.raises(UserError, match=r"cat/000\.png: it has more than 8 bits"):
        loaded(str(folder))


def test_file_of_another_kind_is_refused_by_its_name(folder):
    (folder / "cat/notes.txt").write_text("x")
    with pytest.raises(UserError, match=r"cat/notes\.txt: .*\.png, \.jpg, \.jpeg, \.webp, \.bmp"):
        loaded(str(folder))


@pytest.mark.parametrize("place", ["new.png", "cat/old/new.png"])
def test_image_that_is_in_no_class_is_refused(folder, place):
    (folder / place).parent.mkdir(exist_ok=True)
    (folder / "cat/000.png").rename(folder / place)
    with pytest.raises(UserError, match=rf"{place}: images must be in folders named by class"):
        loaded(str(folder))


def test_class_without_images_is_refused(folder):
    (folder / "eel").mkdir()
    with pytest.raises(UserError, match=r"pets/eel: there are no images of this class"):
        loaded(str(folder))


def test_folder_without_images_is_refused(tmp_path):
    with pytest.raises(UserError, match="there are no images; expected one folder"):
        loaded(str(tmp_path))


def test_images_of_two_sizes_are_refused_by_their_names(folder):
    Image.fromarray(colours(1, 7, 9)[0]).save(folder / "dog/001.png")
    expected = r"cat/000\.png has 5 x 4 pixels, \S*dog/001\.png has 9 x 7 pixels: all images must"
    with pytest.raises(UserError, match=expected):
        loaded(str(folder))


def test_test_images_of_another_size_are_refused(tmp_path, folder):
    other = stored(tmp_path / "a.npz", images=colours(2, 7, 9), labels=alternating(2))
    expected = r"cat/000\.png has 5 x 4 pixels, \S*a\.npz: image 0 has 9 x 7 pixels"
    with pytest.raises(UserError, match=expected):
        loaded(str(folder), test=other)


def test_array_without_images_is_refused(tmp_path, folder):
    other = stored(tmp_path / "a.npz", images=colours(0), labels=np.array([], dtype=str))
    with pytest.raises(UserError, match=r"a\.npz: `labels`: there are no rows"):
        loaded(str(folder), test=other)


def test_class_with_too_few_images_is_refused(folder):
    (folder / "dog/001.png").unlink()
    with pytest.raises(UserError, match=r"pets: class 'dog' has 2 rows, needed are 3"):
        loaded(str(folder))


def test_class_that_is_not_in_training_is_refused(tmp_path, folder):
    path = stored(tmp_path / "a.npz", images=colours(2), labels=np.array(["dog", "eel"]))
    with pytest.raises(UserError, match=r"a\.npz: `labels`: number 1: class 'eel' .*cat, dog"):
        loaded(str(folder), validation=path)


@pytest.mark.timeout(60)
def test_pipe_among_images_is_refused(folder):
    os.mkfifo(folder / "cat" / "999.png")
    with pytest.raises(UserError, match=r"999\.png: not a regular file$"):
        loaded(str(folder))
