"""A user's images: arrays and folders, and what is refused."""

import numpy as np
import pytest
from PIL import Image, ImageOps

from automata.config.data import OwnImage
from automata.datasets.own import load
from automata.datasets.own.image import read_rows
from automata.errors import UserError

from .own_tables import copy_of

CATS = ["cat", "dog"]


def colours(count, height=4, width=5, channels=(3,)):
    return np.random.default_rng(0).integers(0, 256, (count, height, width, *channels), np.uint8)


def stored(path, images, labels=CATS):
    """Write arrays, with these labels in turn, and return the path."""
    np.savez(path, images=images, labels=np.resize(labels, len(images)))
    return str(path)


def classes_in(folder, images):
    """Save images into the folders cat and dog in turn, named by their number; return the path."""
    for number, image in enumerate(images):
        file = folder / CATS[number % 2] / f"{number:03}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(file)
    return str(folder)


def loaded(path, **others):
    return load("mine", OwnImage(kind="image", path=str(path), **others))


def whole(path):
    """Load with a copy of the file as validation and test, so that no row leaves training."""
    return loaded(path, validation=copy_of(path, "validation"), test=copy_of(path))


@pytest.fixture
def folder(tmp_path):
    """A folder of images that can be spoilt: three cats and three dogs."""
    classes_in(tmp_path / "pets", colours(6))
    return tmp_path / "pets"


@pytest.mark.parametrize(
    ("channels", "names", "classes"),
    [
        ((3,), CATS[::-1], CATS),
        ((1,), [10, -9], ["-9", "10"]),
        ((), [True, False], ["False", "True"]),
    ],
)
def test_arrays_become_channels_first_with_labels_of_any_kind(tmp_path, channels, names, classes):
    images = colours(4, channels=channels)
    raw = whole(stored(tmp_path / "a.npz", images, names))
    expected = np.broadcast_to(images.reshape(4, 4, 5, -1), (4, 4, 5, 3)).transpose(0, 3, 1, 2)
    np.testing.assert_array_equal(raw.train.inputs, expected, strict=True)
    assert raw.train.inputs.flags.c_contiguous
    assert (raw.classes, raw.train.labels.tolist()) == (classes, [1, 0, 1, 0])


IMAGES = r"a\.npz: `images` must .*\(n, height, width, 3\).*found"
LABELS = r"a\.npz: `labels` must be whole numbers or strings .*found"


@pytest.mark.parametrize(
    ("arrays", "problem"),
    [
        ({"images": colours(4, channels=(4,))}, IMAGES),
        ({"images": colours(4, height=0)}, IMAGES),
        ({"images": colours(4).astype(np.float32)}, IMAGES),
        ({"labels": np.arange(3)}, LABELS + r" int64 of shape \(3,\)"),
        ({"labels": np.array([0.5, 1, 0, 1])}, LABELS + " float64"),
        ({"labels": np.array(["a", None], object)}, "neither a readable .*allow_pickle"),
        ({"images": None}, r"a\.npz: missing array: images; found: labels"),
        (b"PK\x03\x04 and no more", r"\Aown_datasets\.mine: \S*a\.npz: neither a readable"),
    ],
)
def test_arrays_that_are_no_images_with_classes_are_refused(tmp_path, arrays, problem):
    if isinstance(arrays, bytes):
        (tmp_path / "a.npz").write_bytes(arrays)
    else:
        every = {"images": colours(4), "labels": np.array(CATS * 2), **arrays}
        np.savez(tmp_path / "a.npz", **{name: it for name, it in every.items() if it is not None})
    with pytest.raises(UserError, match=problem):
        loaded(tmp_path / "a.npz")


LINE = 255 * (np.indices((4, 5))[0] == 1).astype(np.uint8)
DRAWING = Image.fromarray(np.dstack([np.zeros((4, 5, 3), np.uint8), LINE]))
"""A black line on a transparent ground."""

SIDE = Image.fromarray(LINE).transpose(Image.Transpose.ROTATE_90)
TURN = Image.Exif()
TURN[0x0112] = 6  # which undoes that
PRINT = Image.new("CMYK", (5, 4), (165, 165, 165, 0))
DEEP = np.random.default_rng(0).integers(0, 2**16, (4, 5), np.uint16)
ON_WHITE, UPPER = "transparent, drawn on white", "of 16 bits, of which the upper 8 are read"


@pytest.mark.parametrize(
    ("suffix", "image", "options", "expected", "error", "note"),
    [
        *((".png", DRAWING.convert(it), {}, 255 - LINE, 0, ON_WHITE) for it in ("RGBA", "LA", "P")),
        (".png", SIDE, {"exif": TURN}, LINE, 0, None),
        (".jpg", SIDE, {"exif": TURN, "quality": 100}, LINE, 12, None),
        (".jpg", PRINT, {"exif": b"Exif\0\0 no more than that"}, 90, 2, None),
        (".png", Image.fromarray(DEEP), {}, DEEP // 256, 0, UPPER),
    ],
)
def test_images_are_read_as_they_are_seen(folder, suffix, image, options, expected, error, note):
    (folder / "cat/000.png").unlink()
    image.save(folder / f"cat/000{suffix}", **options)
    raw = whole(folder)
    shown = np.broadcast_to(expected, (3, 4, 5))
    np.testing.assert_allclose(raw.train.inputs[0], shown, rtol=0, atol=error)
    every = [f"{key}: 1 of 6 images {note}" for key in ("data", "validation", "test")]
    assert raw.facts.get("read", []) == every * bool(note)


@pytest.mark.parametrize(
    ("sizes", "chosen"),
    [
        ([(30, 40)] * 3 + [(50, 60)] * 3, [40, 48]),
        ([(375, 500)] * 5 + [(500, 375)], [48, 64]),
        ([(2, 90), (3, 90), (3, 91)] * 2, [8, 64]),
    ],
)
def test_images_of_several_sizes_get_one_by_the_median(tmp_path, sizes, chosen):
    images = [np.full((*size, 3), number + 1, np.uint8) for number, size in enumerate(sizes)]
    raw = loaded(classes_in(tmp_path / "pets", images))
    assert list(raw.train.inputs.shape[2:]) == chosen
    chosen_by = f"data: images differ in size: `size: {chosen}` (height, width) was chosen"
    assert chosen_by in raw.facts["read"]
    assert set(raw.train.inputs.ravel()) <= set(range(7))


def test_images_of_one_size_keep_it_and_those_of_other_forms_follow(tmp_path):
    train = classes_in(tmp_path / "pets", colours(6, 80, 100))
    raw = loaded(train, test=stored(tmp_path / "a.npz", colours(2, 7, 9), CATS[::-1]))
    assert raw.train.inputs.shape[1:] == raw.test.inputs.shape[1:] == (3, 80, 100)
    originals = map(Image.fromarray, colours(2, 7, 9))
    expected = [np.asarray(ImageOps.fit(image, (100, 80))) for image in originals]
    np.testing.assert_array_equal(raw.test.inputs.transpose(0, 2, 3, 1), expected)
    assert raw.test.labels.tolist() == [1, 0]
    small = loaded(train, size=[16, 24], test=str(tmp_path / "a.npz"))
    assert small.train.inputs.shape[1:] == (3, 16, 24)
    changed = "images resized to height 16 and width 24, then cropped"
    assert small.facts["read"] == [f"data: 6 of 6 {changed}", f"test: 2 of 2 {changed}"]
    assert read_rows(tmp_path / "pets", None, {"size": [24, 16]})[2] == [f"6 of 6 {changed}"]


def test_damaged_images_are_refused_by_their_names_all_at_once(folder):
    files = sorted(folder.glob("*/*.png"))
    good = files[0].read_bytes()
    flipped = good[:20] + b"\xff" + good[21:]
    spoilt = [b"", b"text", good[:60], flipped, b"%!PS-Adobe-3.0 EPSF-3.0", b"\x89PNG"]
    for file, content in zip(files, spoilt, strict=True):
        file.write_bytes(content)
    problem = r"\A\S+ \S*/\d+\.png: not a readable image: .*\Z"
    with pytest.raises(UserError, match=problem) as caught:
        loaded(folder)
    assert all(str(file) in str(caught.value) for file in files)


@pytest.mark.parametrize(
    ("image", "problem"),
    [
        (Image.new("RGB", (16, 16)), "bomb"),
        (Image.fromarray(DEEP // 16), "it uses 12 bits of 16 or fewer, save it with 8"),
    ],
)
def test_image_of_too_many_pixels_or_too_few_shades_is_refused(folder, monkeypatch, image, problem):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 50)
    image.save(folder / "cat/odd.png")
    with pytest.raises(UserError, match=rf"cat/odd\.png: not a readable image: .*{problem}"):
        loaded(folder)


@pytest.mark.parametrize(
    ("files", "remedy"),
    [
        ("train/cat/1.png val/cat/1.png", "path: .*/pets/train, validation: .*/pets/val"),
        ("all/Train/a/1.png all/test/a/1.png", "path: .*/pets/all/Train, test: .*/all/test"),
        *((f"{it}/cat/1.png test/1.png", f"classes: path: .*/{it}") for it in ("train", "images")),
        *((it, "classes: valid: .*") for it in ("train/1.png test/1.png", "a/b/1.png c/d/1.png")),
        ("a.parquet y=1/b.CSV.gz", "no file .* tables: a.parquet, y=1/b.CSV.gz: .* joins Parquet"),
    ],
)
def test_folder_without_classes_is_refused(tmp_path, files, remedy):
    for name in files.split():
        (tmp_path / "pets" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pets" / name).touch()
    with pytest.raises(UserError, match=f"/pets: .*{remedy}$"):
        loaded(tmp_path / "pets")


def test_class_folders_without_images_are_named_and_train_may_be_a_class(folder):
    (folder / "dog").rename(folder / "train")
    (folder / "bird").mkdir()
    raw, note = whole(folder), "folders without files to read: bird"
    assert raw.classes == ["cat", "train"]
    assert raw.facts["read"] == [f"{key}: {note}" for key in ("data", "validation", "test")]
