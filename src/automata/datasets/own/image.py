"""A user's images: arrays in an .npz, or a folder with one of image files per class."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, ImageOps

from automata.config.data import OwnImage
from automata.datasets.own.folders import class_files, files_at, names_at
from automata.datasets.own.splits import KEYS, FileLabels, assign, given_paths, raw_splits
from automata.datasets.raw import Images, RawSplits
from automata.errors import UserError, listed

SUFFIXES = (".png", ".jpg", ".jpeg", ".jfif", ".webp", ".bmp")

LARGEST = 64
"""The most pixels per side of a chosen size. ResNet18 keeps 19 MB per image of 64 x 64 for its
gradient, 230 MB per image of 224 x 224, and needs as much more time."""

Size = tuple[int, int]
"""Height and width, in pixels."""

Picture = Path | NDArray[np.uint8]
"""A file, or an image (height, width, 3) of an .npz."""

_FORMATS = ("PNG", "JPEG", "WEBP", "BMP")  # no EPS, which Pillow has Ghostscript run
_BYTE_MODES = ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBX", "CMYK", "YCbCr")
_DAMAGED = (
    *(OSError, EOFError, SyntaxError, TypeError, ValueError, LookupError, MemoryError),
    *(struct.error, zlib.error, zipfile.BadZipFile, Image.DecompressionBombError),
)


def load(own: OwnImage) -> RawSplits[Images]:
    """Return the splits of a user's images (n, 3, height, width) uint8; grey fills all channels."""
    paths = given_paths(own)
    notes: dict[str, list[str]] = {split: [] for split in paths}
    found = {split: _labelled(path, notes[split]) for split, path in paths.items()}
    classes, parts = assign({split: labels for split, (_, labels) in found.items()})
    size = own.size or _one_size(found["train"][0], notes["train"])
    images = {split: _images(found[split][0], size, notes[split]) for split in paths}
    read = [f"{KEYS[split]}: {note}" for split, said in notes.items() for note in said]
    return raw_splits(own, classes, parts, lambda part: images[part.file][part.rows], read)


def read_rows(
    path: Path, own: OwnImage | None, encoding: Mapping[str, Any]
) -> tuple[Images, list[str], list[str]]:
    """Return new images (n, 3, height, width), read as for training; see `automata.datasets.own`.

    `path` is an image, a folder with any below it, or an `.npz` with `images`.
    """
    notes: list[str] = []
    pictures: Sequence[Picture]
    if path.suffix.lower() == ".npz":
        pictures = _pictures(path)
        names = [str(number) for number in range(1, len(pictures) + 1)]
    else:
        pictures = files = files_at(path, SUFFIXES)
        names = names_at(path, files)
    width, height = encoding["size"]
    return _images(pictures, (height, width), notes), names, notes


def _labelled(path: Path, notes: list[str]) -> tuple[Sequence[Picture], FileLabels]:
    """Return the images at a path, and the class of each."""
    if path.is_dir():
        return class_files(path, SUFFIXES, notes)
    pictures = _pictures(path)
    labels = _array(path, "labels")
    if labels.shape != (len(pictures),) or labels.dtype.kind not in "iubU":
        raise UserError(
            f"{path}: `labels` must be whole numbers or strings of shape ({len(pictures)},), one "
            f"for each of `images`; found {labels.dtype} of shape {labels.shape}"
        )
    return pictures, FileLabels(f"{path}: `labels`", [*map(str, labels.tolist())])


def _array(path: Path, name: str) -> NDArray[Any]:
    """Return an array of an .npz."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            if name not in stored:
                raise UserError(f"{path}: missing array: {name}; found: {listed(stored)}")
            return np.asarray(stored[name])
    except _DAMAGED as error:
        raise UserError(
            f"{path}: neither a readable .npz nor a folder with one of images per class: {error}"
        ) from error


def _pictures(path: Path) -> list[NDArray[np.uint8]]:
    """Return the images (height, width, 3) of an .npz."""
    images = _array(path, "images")
    grey = images[..., None] if images.ndim == 3 else images
    if images.dtype != np.uint8 or grey.ndim != 4 or grey.shape[3] not in (1, 3) or not grey.size:
        raise UserError(
            f"{path}: `images` must be uint8, 0 to 255, of shape (n, height, width, 3), "
            "(n, height, width, 1) or (n, height, width); found "
            f"{images.dtype} of shape {images.shape}"
        )
    return list(np.broadcast_to(grey, (*grey.shape[:3], 3)).astype(np.uint8, copy=False))


def _one_size(pictures: Sequence[Picture], notes: list[str]) -> Size:
    """Return the size of all `pictures`, or else one of their median shape, in multiples of 8."""
    sizes: list[Size] = []
    for picture in pictures:
        with suppress(*_DAMAGED):  # named when all are read
            sizes.append(_size(picture))
    if len(set(sizes)) == 1:
        return sizes[0]
    median = np.median(sizes or [(8, 8)], axis=0)
    sides = median * min(1, LARGEST / median.max())
    height, width = (max(8, 8 * round(side / 8)) for side in sides)
    notes.append(f"images differ in size: `size: [{height}, {width}]` (height, width) was chosen")
    return height, width


def _size(picture: Picture) -> Size:
    if not isinstance(picture, Path):
        return picture.shape[0], picture.shape[1]
    with Image.open(picture, formats=_FORMATS) as image:
        with suppress(*_DAMAGED):
            if image.getexif().get(ExifTags.Base.Orientation) in (5, 6, 7, 8):  # it lies
                return image.size
        return image.height, image.width


def _images(pictures: Sequence[Picture], size: Size, notes: list[str]) -> Images:
    """Return `pictures` in one size, filled one by one: a list would need twice the memory."""
    height, width = size
    images = np.empty((len(pictures), 3, height, width), dtype=np.uint8)
    changes: Counter[str] = Counter()
    damaged = []
    for number, picture in enumerate(pictures):
        try:
            pixels = np.asarray(_read(picture, changes)) if isinstance(picture, Path) else picture
        except _DAMAGED as error:
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
    """Return the image in `file` upright, in RGB, and on white."""
    image: Image.Image
    with Image.open(file, formats=_FORMATS) as image:
        image.load()  # damage ends here, not where EXIF data are looked for
        with suppress(*_DAMAGED):
            image = ImageOps.exif_transpose(image)
        if image.mode.startswith("I;16") and not image.has_transparency_data:
            values = np.asarray(image)
            if 0 < values.max() < 2**12:  # at most 16 shades would be left
                raise ValueError("it uses 12 bits of 16 or fewer, save it with 8")
            image = Image.fromarray((values >> 8).astype(np.uint8))
            changes["of 16 bits, of which the upper 8 are read"] += 1
        if image.mode not in _BYTE_MODES:
            raise ValueError(f"more than 8 bits per channel (mode {image.mode}), save it with 8")
        if not image.has_transparency_data:
            return image.convert("RGB")
        drawing = image.convert("RGBA")
        if drawing.getchannel("A").getextrema() != (255, 255):
            changes["transparent, drawn on white"] += 1
        white = Image.new("RGBA", drawing.size, "white")
        white.alpha_composite(drawing)
        return white.convert("RGB")
