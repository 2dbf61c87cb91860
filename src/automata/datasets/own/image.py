"""A user's images: arrays in an `.npz`, or a folder with a subfolder of image files per class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, ImageOps

from automata.config.data import OwnImage
from automata.datasets.own.folders import class_files, files_at
from automata.datasets.own.splits import NOTED, FileLabels, assign, given_paths, raw_splits
from automata.datasets.raw import Images, RawSplits
from automata.errors import UserError, listed

SUFFIXES = (".png", ".jpg", ".jpeg", ".jfif", ".webp", ".bmp")
FORMATS = ("PNG", "JPEG", "WEBP", "BMP")  # not EPS: Pillow would run Ghostscript
Picture = Path | NDArray[np.uint8]  # a file, or an image (height, width, 3) of an .npz


def load(own: OwnImage) -> RawSplits[Images]:
    """Return the splits of a user's images (n, 3, height, width) uint8; grey fills all channels."""
    files = {split: _read_labelled(path) for split, path in given_paths(own).items()}
    classes, parts = assign({split: labels for split, (_, labels, _) in files.items()})
    pictures, _, notes = files["train"]
    size = own.size or _common_size(pictures, notes)
    images = {split: _to_array(some, size, notes) for split, (some, _, notes) in files.items()}
    read = [f"{NOTED[split]}: {note}" for split, (_, _, notes) in files.items() for note in notes]
    return raw_splits(own, classes, parts, lambda part: images[part.file][part.rows], read)


def read_rows(
    path: Path, own: OwnImage | None, encoding: Mapping[str, Any]
) -> tuple[Images, list[str], list[str]]:
    """Read new images (n, 3, height, width) from a file, a folder, or an `.npz` with `images`."""
    notes: list[str] = []
    pictures: Mapping[str, Picture]
    if path.suffix.lower() == ".npz":
        pictures = {str(number): image for number, image in enumerate(_npz_images(path), start=1)}
    else:
        pictures = files_at(path, SUFFIXES)
    width, height = encoding["size"]
    return _to_array([*pictures.values()], (height, width), notes), [*pictures], notes


def _read_labelled(path: Path) -> tuple[Sequence[Picture], FileLabels, list[str]]:
    """Return the images at a path, their classes, and notes on other files."""
    if path.is_dir():
        return class_files(path, SUFFIXES)
    pictures, labels = _npz_images(path), _npz_array(path, "labels")
    if labels.shape != (len(pictures),) or labels.dtype.kind not in "iubU":
        found = f"found {labels.dtype} of shape {labels.shape} for {len(pictures)} images"
        raise UserError(f"{path}: `labels` must be whole numbers or strings of shape (n,); {found}")
    return pictures, FileLabels(f"{path}: `labels`", [*map(str, labels.tolist())]), []


def _npz_images(path: Path) -> list[NDArray[np.uint8]]:
    """Return the images (height, width, 3) of an `.npz`."""
    images = _npz_array(path, "images")
    pixels = images[..., None] if images.ndim == 3 else images
    if images.dtype != np.uint8 or pixels.shape[3:] not in [(1,), (3,)] or not pixels.size:
        valid = "uint8, 0 to 255, of shape (n, height, width, 3), or (n, height, width) if grey"
        raise UserError(f"{path}: `images` must be {valid}; found {images.dtype} {images.shape}")
    return list(np.broadcast_to(pixels, (*pixels.shape[:3], 3)))


def _npz_array(path: Path, name: str) -> NDArray[Any]:
    """Return an array of an `.npz`."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            if name in stored:
                return np.asarray(stored[name])
            problem = f"missing array: {name}; found: {listed(stored)}"
    except Exception as error:  # a damaged file may raise anything
        problem = f"neither a readable .npz nor a folder with one of images per class: {error}"
    raise UserError(f"{path}: {problem}")


def _common_size(pictures: Sequence[Picture], notes: list[str]) -> tuple[int, ...]:
    """Return the size of all images; if they differ, their median in multiples of 8, up to 64."""
    sizes = [_size(image) if isinstance(image, Path) else image.shape[:2] for image in pictures]
    if len(set(sizes)) == 1:
        return sizes[0]
    median: NDArray[np.float64] = np.median(np.array(sizes), axis=0)
    sides = median * min(1, 64 / median.max())  # ResNet18 needs 230 MB per image of 224 x 224
    height, width = (max(8, 8 * round(side / 8)) for side in sides)
    notes.append(f"images differ in size: `size: [{height}, {width}]` (height, width) was chosen")
    return height, width


def _size(file: Path) -> tuple[int, int]:
    """Return the height and width of an upright image."""
    size = 8, 8  # for a damaged file, which `_to_array` refuses
    with suppress(Exception), Image.open(file, formats=FORMATS) as image:
        size = image.height, image.width
        if image.getexif().get(ExifTags.Base.Orientation) in (5, 6, 7, 8):  # stored on its side
            size = image.size
    return size


def _to_array(pictures: Sequence[Picture], size: tuple[int, ...], notes: list[str]) -> Images:
    """Return images in one size as an array; append a note on each kind of change."""
    height, width = size
    images = np.empty((len(pictures), 3, height, width), dtype=np.uint8)  # a list would double it
    changes: Counter[str] = Counter()
    damaged = []
    for number, picture in enumerate(pictures):
        try:
            pixels = np.asarray(_read(picture, changes)) if isinstance(picture, Path) else picture
        except Exception as error:  # a damaged file may raise anything
            damaged.append(f"{picture}: not a readable image: {error}")
            continue
        if pixels.shape[:2] != size:
            changes[f"resized to height {height} and width {width}, then cropped"] += 1
            pixels = np.asarray(ImageOps.fit(Image.fromarray(pixels), (width, height)))
        images[number] = pixels.transpose(2, 0, 1)
    if damaged:
        raise UserError(listed(damaged))
    notes += [f"{n} of {len(pictures)} images {change}" for change, n in changes.items()]
    return images


def _read(file: Path, changes: Counter[str]) -> Image.Image:
    """Return the image in `file` upright, in RGB, and on white; count each change in `changes`."""
    with Image.open(file, formats=FORMATS) as image:
        image.load()  # raises for a damaged image, while errors of EXIF are ignored
        with suppress(Exception):
            ImageOps.exif_transpose(image, in_place=True)
        if image.mode.startswith("I"):
            values = np.asarray(image)
            if image.has_transparency_data or 0 < values.max() < 2**12:  # upper 8 bits: few shades
                raise ValueError("transparent, or it uses 12 bits of 16 or fewer, save it with 8")
            changes["of 16 bits, of which the upper 8 are read"] += 1
            return Image.fromarray((values >> 8).astype(np.uint8)).convert("RGB")
        if not image.has_transparency_data:
            return image.convert("RGB")
        drawing = image.convert("RGBA")
        if drawing.getchannel("A").getextrema() != (255, 255):
            changes["transparent, drawn on white"] += 1
        white = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(white, drawing).convert("RGB")
