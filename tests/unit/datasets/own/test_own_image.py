"""A user's images: arrays and folders, and what is refused."""

import hashlib
import io

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageOps

from automata.config.data import OwnImage, Preparation
from automata.datasets.own import load
from automata.datasets.own.image import read_rows
from automata.datasets.prepare import prepare
from automata.datasets.prepared import write_dataset
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
        colours(0),
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
        (np.arange(3), r"shape \(4,\), .* found int64 of shape \(3,\)"),
        (np.zeros((4, 1), int), r"found int64 of shape \(4, 1\)"),
        (np.array([0.5, 1, 0, 1]), "whole numbers or strings .*found float64"),
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
    with pytest.raises(UserError, match=rf"a\.npz: missing array: {absent}; found: .*more"):
        loaded(stored(tmp_path / "a.npz", **arrays))


def one_array():
    file = io.BytesIO()
    np.save(file, colours(4))
    return file.getvalue()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and no more", b"text", one_array()])
def test_what_is_no_npz_is_refused(tmp_path, content):
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(UserError, match=r"\A.*a\.npz: neither a readable .*\Z"):
        loaded(str(tmp_path / "a.npz"))


def test_pickled_objects_are_never_loaded(tmp_path):
    labels = np.array(["a", "b", None, "c"], dtype=object)
    with pytest.raises(UserError, match=r"a\.npz: neither a readable .*allow_pickle"):
        loaded(stored(tmp_path / "a.npz", images=colours(4), labels=labels))


def test_other_file_is_refused(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"")
    with pytest.raises(UserError, match=r"own_datasets\.mine: \S*a\.zip: neither a readable"):
        loaded(str(tmp_path / "a.zip"))


def test_folder_without_images_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"there is no file \(\.png, "):
        loaded(str(tmp_path))


def shapes_of(*sizes):
    """Return an image of one colour for each (height, width)."""
    return [np.full((*size, 3), number + 1, np.uint8) for number, size in enumerate(sizes)]


def channels_first(image):
    return np.asarray(image.convert("RGB")).transpose(2, 0, 1)


def test_prepared_images_of_one_size_have_the_bytes_of_before(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a prepared file names the files that it was made from
    for number, mode in enumerate(["RGB", "L", "1", "P"] * 5):
        pixels = (np.arange(60).reshape(4, 5, 3) * (number + 3) % 256).astype(np.uint8)
        (tmp_path / "pets" / ("dog", "cat")[number % 2]).mkdir(parents=True, exist_ok=True)
        file = tmp_path / "pets" / ("dog", "cat")[number % 2] / f"{number:02}.bmp"
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
    raw = whole(str(folder))
    expected = np.full((3, 4, 5), 255)
    expected[:, 1] = 0
    np.testing.assert_array_equal(raw.train.inputs[0], expected)
    assert raw.facts["read"] == [f"{folder}: 1 of 6 images transparent, drawn on white"]


def test_half_transparent_red_is_half_white(folder):
    Image.new("RGBA", (5, 4), (255, 0, 0, 128)).save(folder / "cat/000.png")
    assert whole(str(folder)).train.inputs[0, :, 0, 0].tolist() == [255, 127, 127]


def test_opaque_images_with_an_alpha_channel_are_as_they_were(folder):
    solid = np.dstack([colours(1)[0], np.full((4, 5), 255, np.uint8)])
    Image.fromarray(solid).save(folder / "cat/000.png")
    raw = whole(str(folder))
    np.testing.assert_array_equal(raw.train.inputs[0], solid[..., :3].transpose(2, 0, 1))
    assert "read" not in raw.facts


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp"])
def test_photo_that_lies_on_its_side_is_turned_upright(folder, suffix):
    upright = Image.new("RGB", (5, 4), "white")
    upright.paste("black", (0, 0, 5, 2))
    side = upright.transpose(Image.Transpose.ROTATE_90)  # what orientation 6 undoes
    exif = Image.Exif()
    exif[0x0112] = 6
    (folder / "cat/000.png").unlink()
    side.save(folder / f"cat/000{suffix}", exif=exif, quality=100)
    raw = whole(str(folder))
    assert raw.train.inputs[0] == pytest.approx(channels_first(upright), abs=12)


def test_exif_data_that_cannot_be_read_are_none(folder):
    pixels = Image.fromarray(np.full((4, 5, 3), 90, np.uint8))
    (folder / "cat/000.png").unlink()
    pixels.save(folder / "cat/000.jpg", exif=b"Exif\0\0 no more than that")
    assert whole(str(folder)).train.inputs[0] == pytest.approx(90, abs=2)


@pytest.mark.parametrize(
    ("sizes", "chosen"),
    [
        ([(30, 40)] * 3 + [(50, 60)] * 3, [40, 48]),
        ([(375, 500)] * 5 + [(500, 375)], [48, 64]),
        ([(2, 90), (3, 90), (3, 91)] * 2, [8, 64]),
        ([(300, 300)] * 5 + [(301, 300)], [64, 64]),
    ],
)
def test_images_of_several_sizes_get_one_by_the_median(tmp_path, sizes, chosen):
    path = classes_in(tmp_path / "pets", shapes_of(*sizes), alternating(6))
    raw = loaded(path)
    assert list(raw.train.inputs.shape[2:]) == chosen
    chosen_by = f"images differ in size: `size: {chosen}` (height, width) was chosen"
    assert any(chosen_by in line for line in raw.facts["read"])
    assert set(raw.train.inputs.ravel()) <= set(range(7))


def test_images_are_resized_to_the_configured_size_and_cropped_at_the_centre(tmp_path):
    images = [np.zeros((8, 24, 3), np.uint8) for _ in range(6)]
    for image in images:
        image[:, 8:16] = 200  # what remains of three squares
    raw = loaded(classes_in(tmp_path / "pets", images, alternating(6)), size=[16, 16])
    assert raw.train.inputs.shape[1:] == (3, 16, 16)
    assert raw.train.inputs[:, :, :, 2:14].astype(int) == pytest.approx(200, abs=5)
    (line,) = raw.facts["read"]
    assert line.endswith("pets: 6 of 6 images resized to height 16 and width 16, then cropped")


def test_images_of_one_size_keep_it_and_others_follow(tmp_path):
    train = classes_in(tmp_path / "pets", shapes_of(*[(80, 100)] * 6), alternating(6))
    arrays = stored(tmp_path / "a.npz", images=colours(2, 7, 9), labels=alternating(2))
    raw = loaded(train, test=arrays)
    assert raw.train.inputs.shape[1:] == raw.test.inputs.shape[1:] == (3, 80, 100)
    expected = [ImageOps.fit(Image.fromarray(image), (100, 80)) for image in colours(2, 7, 9)]
    np.testing.assert_array_equal(raw.test.inputs, [channels_first(image) for image in expected])


@pytest.mark.parametrize("size", [[16], [16, 16, 3], [7, 16], [16, 1025], [16.5, 16]])
def test_size_that_no_image_has_is_refused(size):
    with pytest.raises(ValueError, match="size"):
        OwnImage(kind="image", path="pets", size=size)


def test_files_that_are_no_images_of_a_class_are_ignored_in_one_line(folder):
    before = whole(str(folder))
    for name in ("Thumbs.db", "cat/Thumbs.db", "dog/README", "cat/.thumbs", ".DS_Store"):
        (folder / name).write_text("x")
    after = whole(str(folder))
    np.testing.assert_array_equal(after.train.inputs, before.train.inputs)
    (line,) = after.facts["read"]
    ignored = "Thumbs.db, cat/Thumbs.db, dog/README"
    assert line.startswith(f"{folder}: 3 files ignored: {ignored}; valid: CLASS/FILE (.png, ")


def test_images_of_16_bits_are_read_by_their_upper_8(folder):
    values = np.random.default_rng(0).integers(0, 2**16, (4, 5), np.uint16)
    Image.fromarray(values).save(folder / "cat/000.png")
    raw = whole(str(folder))
    np.testing.assert_array_equal(raw.train.inputs[0], np.stack([values // 256] * 3))
    assert raw.facts["read"] == [
        f"{folder}: 1 of 6 images of 16 bits, of which the upper 8 are read"
    ]


def test_image_of_16_bits_that_uses_few_of_them_is_refused(folder):
    Image.fromarray(np.full((4, 5), 4095, np.uint16)).save(folder / "cat/000.png")
    with pytest.raises(UserError, match=r"cat/000\.png: .*12 bits of 16 or fewer, save it with 8"):
        loaded(str(folder))


def spoil(file, how):
    content = file.read_bytes()
    spoilt = {"cut": content[:60], "flipped": content[:20] + b"\xff" + content[21:]}
    file.write_bytes(spoilt.get(how, how))


@pytest.mark.parametrize("how", [b"", b"text", "cut", "flipped", b"%!PS-Adobe-3.0 EPSF-3.0"])
def test_damaged_image_is_refused_by_its_name(folder, how):
    spoil(folder / "dog/003.png", how)
    with pytest.raises(UserError, match=r"\A\S+ \S*dog/003\.png: not a readable image: .*\Z"):
        loaded(str(folder))


@pytest.mark.parametrize("number", [3, 6])
def test_all_damaged_images_are_named_at_once(folder, number):
    files = sorted(folder.glob("*/*.png"))[:number]
    for file, how in zip(files, ["cut", b"", "flipped"] * 2, strict=False):
        spoil(file, how)
    with pytest.raises(UserError) as caught:
        loaded(str(folder))
    assert [str(file) in str(caught.value) for file in files] == [True] * number
    assert "\n" not in str(caught.value)


def test_image_that_unpacks_to_too_many_pixels_is_refused(folder, monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 50)
    Image.new("RGB", (16, 16)).save(folder / "cat/bomb.png")
    with pytest.raises(UserError, match=r"cat/bomb\.png: not a readable image: .*bomb"):
        loaded(str(folder))


def any_images(folder, sizes):
    """Save images of many modes, sizes and orientations in two classes."""
    exif = Image.Exif()
    exif[0x0112] = 8
    modes = ["RGB", "RGBA", "L", "LA", "P", "1", "I;16", "CMYK"]
    for number, mode in enumerate(modes * 3):
        height, width = sizes[number % len(sizes)]
        pixels = np.random.default_rng(number).integers(0, 256, (height, width, 4), np.uint8)
        image = Image.fromarray(pixels).convert("L" if mode == "I;16" else mode)
        if mode == "I;16":
            image = Image.fromarray(pixels[..., 0].astype(np.uint16) * 257)
        suffix = ".jpg" if mode == "CMYK" else ".png"
        more = {"exif": exif} if number % 4 == 0 else {}
        (folder / "ab"[number % 2]).mkdir(parents=True, exist_ok=True)
        image.save(folder / "ab"[number % 2] / f"{number}{suffix}", **more)
    (folder / "README").write_text("x")
    return str(folder)


@pytest.mark.parametrize("sizes", [[(9, 9)], [(9, 12), (40, 10), (200, 300), (1, 50)]])
@pytest.mark.parametrize("size", [None, [10, 17]])
def test_new_images_are_read_as_the_test_images_were(tmp_path, sizes, size):
    train, test = (any_images(tmp_path / name, sizes) for name in ("train", "test"))
    raw = loaded(train, test=test, size=size)
    height, width = raw.train.inputs.shape[2:]
    found, names, _ = read_rows(tmp_path / "test", None, {"size": [width, height]})
    np.testing.assert_array_equal(found, raw.test.inputs)
    assert names[0] == "a/0.png"
