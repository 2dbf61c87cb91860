"""A user's images: arrays and folders, and what is refused."""

import hashlib

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageOps

from automata.config.data import OwnImage, Preparation
from automata.datasets.own import load
from automata.datasets.prepare import prepare
from automata.datasets.prepared import write_dataset
from automata.errors import UserError

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
    """Load with the same file as validation and test, so that no row leaves training."""
    return loaded(path, validation=str(path), test=str(path))


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


def channels_first(image):
    return np.asarray(image.convert("RGB")).transpose(2, 0, 1)


def test_prepared_images_of_one_size_have_the_bytes_of_earlier_versions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a prepared file names the files that it was made from
    for number, mode in enumerate(["RGB", "L", "1", "P"] * 5):
        pixels = (np.arange(60).reshape(4, 5, 3) * (number + 3) % 256).astype(np.uint8)
        file = tmp_path / "pets" / ("dog", "cat")[number % 2] / f"{number:02}.bmp"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).convert(mode).save(file)
    own = Preparation.model_validate({"own": {"kind": "image", "path": "pets"}})
    write_dataset(prepare("mine", own, tmp_path), tmp_path / "mine.safetensors")
    found = hashlib.sha256((tmp_path / "mine.safetensors").read_bytes()).hexdigest()
    assert found == "4aae01ee5a862ffd647076db1ad640c9b5368070b77dcf0fd4fc2d1e180080a4"


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_black_drawing_on_a_transparent_ground_is_black_on_white(folder, mode):
    drawing = Image.new("RGBA", (5, 4), (0, 0, 0, 0))
    ImageDraw.Draw(drawing).line((0, 1, 4, 1), fill=(0, 0, 0, 255))
    drawing.convert(mode).save(folder / "cat/000.png")
    raw = whole(folder)
    expected = np.full((3, 4, 5), 255)
    expected[:, 1] = 0
    np.testing.assert_array_equal(raw.train.inputs[0], expected)
    assert raw.facts["read"] == [f"{folder}: 1 of 6 images transparent, drawn on white"]


@pytest.mark.parametrize("suffix", [".png", ".jpg"])
def test_photo_that_lies_on_its_side_is_turned_upright(folder, suffix):
    upright = Image.new("RGB", (5, 4), "white")
    upright.paste("black", (0, 0, 5, 2))
    side = upright.transpose(Image.Transpose.ROTATE_90)  # what orientation 6 undoes
    exif = Image.Exif()
    exif[0x0112] = 6
    (folder / "cat/000.png").unlink()
    side.save(folder / f"cat/000{suffix}", exif=exif, quality=100)
    assert whole(folder).train.inputs[0] == pytest.approx(channels_first(upright), abs=12)


def test_exif_data_that_cannot_be_read_are_none_and_colours_of_print_are_read(folder):
    (folder / "cat/000.png").unlink()
    grey = Image.new("CMYK", (5, 4), (165, 165, 165, 0))
    grey.save(folder / "cat/000.jpg", exif=b"Exif\0\0 no more than that")
    assert whole(folder).train.inputs[0] == pytest.approx(90, abs=2)


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
    chosen_by = f"images differ in size: `size: {chosen}` (height, width) was chosen"
    assert any(chosen_by in line for line in raw.facts["read"])
    assert set(raw.train.inputs.ravel()) <= set(range(7))


def test_images_of_one_size_keep_it_and_those_of_other_forms_follow(tmp_path):
    train = classes_in(tmp_path / "pets", colours(6, 80, 100))
    raw = loaded(train, test=stored(tmp_path / "a.npz", colours(2, 7, 9), CATS[::-1]))
    assert raw.train.inputs.shape[1:] == raw.test.inputs.shape[1:] == (3, 80, 100)
    expected = [ImageOps.fit(Image.fromarray(image), (100, 80)) for image in colours(2, 7, 9)]
    np.testing.assert_array_equal(raw.test.inputs, [channels_first(image) for image in expected])
    assert raw.test.labels.tolist() == [1, 0]
    small = loaded(train, size=[16, 24])
    assert small.train.inputs.shape[1:] == (3, 16, 24)
    read = "6 of 6 images resized to height 16 and width 24, then cropped"
    assert small.facts["read"] == [f"{train}: {read}"]


def test_images_of_16_bits_are_read_by_their_upper_8_if_these_say_enough(folder):
    values = np.random.default_rng(0).integers(0, 2**16, (4, 5), np.uint16)
    Image.fromarray(values).save(folder / "cat/000.png")
    raw = whole(folder)
    np.testing.assert_array_equal(raw.train.inputs[0], np.stack([values // 256] * 3))
    read = "1 of 6 images of 16 bits, of which the upper 8 are read"
    assert raw.facts["read"] == [f"{folder}: {read}"]
    Image.fromarray(np.full((4, 5), 4095, np.uint16)).save(folder / "cat/000.png")
    with pytest.raises(UserError, match=r"cat/000\.png: .*12 bits of 16 or fewer, save it with 8"):
        loaded(folder)


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


def test_image_that_unpacks_to_too_many_pixels_is_refused(folder, monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 50)
    Image.new("RGB", (16, 16)).save(folder / "cat/bomb.png")
    with pytest.raises(UserError, match=r"cat/bomb\.png: not a readable image: .*bomb"):
        loaded(folder)
