"""A user's images: arrays in an .npz, or a folder with one of image files per class."""

from __future__ import annotations

import logging
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, ImageOps

from automata.config.data import OwnImage
from automata.datasets.own.paths import KEYS, fault, given_paths, listed
from automata.datasets.own.splits import FileLabels, assign, raw_splits
from automata.datasets.raw import Images, RawSplits
from automata.files import visible_files

SUFFIXES = (".png", ".jpg", ".jpeg", ".jfif", ".webp", ".bmp")

LARGEST = 64
"""The most pixels per side of a chosen size. ResNet18 keeps 19 MB per image of 64 x 64 for its
gradient, 230 MB per image of 224 x 224, and needs as much more time."""

Size = tuple[int, int]
"""Height and width, in pixels."""

Picture = Path | NDArray[np.uint8]
"""A file, or an image (height, width, 3) of an .npz."""

_LOG = logging.getLogger(__name__)
_FORMATS = ("PNG", "JPEG", "WEBP", "BMP")  # no EPS, which Pillow has Ghostscript run
_OTHER_IMAGES = (".avif", ".gif", ".heic", ".heif", ".jp2", ".jxl", ".tif", ".tiff")
_BYTE_MODES = ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBX", "CMYK", "YCbCr")
_BROKEN = (struct.error, zlib.error, zipfile.BadZipFile, Image.DecompressionBombError)
_DAMAGED = (*_BROKEN, OSError, EOFError, SyntaxError, TypeError, ValueError, LookupError)


def load(name: str, own: OwnImage) -> RawSplits[Images]:
    """Return the splits of a user's images: inputs (n, 3, height, width) uint8.

    Grey images have the same values in all three channels. `facts["read"]`, where it is, says in
    sentences what was changed and what was ignored.

    Raises UserError for arrays and files that are no images, and what cannot be split.
    """
    said: list[str] = []
    paths = given_paths(name, own)
    keys = {split: f"own_datasets.{name}.{KEYS[split]}" for split in paths}
    found = {split: _labelled(keys[split], path, said) for split, path in paths.items()}
    classes, parts = assign(name, {split: labels for split, (_, labels) in found.items()})
    size = own.size or _one_size(found["train"][0], said)
    images = {split: _images(path, found[split][0], size, said) for split, path in paths.items()}
    read = list(dict.fromkeys(said))  # a file that is read twice says all twice
    for sentence in read:
        _LOG.warning("%s", sentence)
    facts: dict[str, Any] = {"read": read} if read else {}
    return raw_splits(paths, classes, parts, lambda part: images[part.file][part.rows], **facts)


def read_unlabelled(path: Path, size: Size) -> tuple[Images, list[str]]:
    """Return images (n, 3, *size) without classes, read as those for training, and their names.

    `path` is an image, a folder with any below it, or an `.npz` with `images`; else UserError.
    """
    said: list[str] = []
    if path.suffix.lower() == ".npz":
        pictures: Sequence[Picture] = _pictures(path, _arrays(path, "images")[0])
        names = [str(number) for number in range(1, len(pictures) + 1)]
    else:
        pictures = files = _image_files(path, said)
        names = [str(file.relative_to(path)) if path.is_dir() else file.name for file in files]
    images = _images(path, pictures, size, said)
    for sentence in said:
        _LOG.warning("%s", sentence)
    return images, names


def _labelled(key: str, path: Path, said: list[str]) -> tuple[Sequence[Picture], FileLabels]:
    if path.is_dir():
        files = _class_files(path, said)
        classes = [file.parent.name for file in files]
        return files, FileLabels(classes, str(path), lambda row: files[row].name)
    if path.suffix.lower() != ".npz":
        raise fault(
            f"{key}: '{path}' is neither an .npz with `images` and `labels` nor a folder with a "
            "folder of images per class"
        )
    images, labels = _arrays(path, "images", "labels")
    pictures = _pictures(path, images)
    classes = _names(path, labels, len(pictures))
    return pictures, FileLabels(classes, f"{path}: `labels`", lambda row: f"number {row}")


def _class_files(folder: Path, said: list[str]) -> list[Path]:
    """Return the images of all classes, sorted by class and name."""
    files = _image_files(folder, said)
    outside = [file for file in files if file.parent.parent != folder]
    if outside:
        raise fault(f"{listed(outside)}: images must be in folders named by class: class/image")
    inside = {path for path in folder.iterdir() if path.is_dir() and path.name[0] != "."}
    empty = sorted(path.name for path in inside - {file.parent for file in files})
    if empty:
        said.append(f"{folder}: folders ignored, without an image: {listed(empty)}")
    return files


def _image_files(path: Path, said: list[str]) -> list[Path]:
    """Return the images at any depth of a folder, or the one at `path`."""
    files = visible_files(path) if path.is_dir() else [path]
    irregular = [file for file in files if not file.is_file()]  # a pipe would never end
    if irregular:
        raise fault(f"{listed(irregular)}: not a regular file")
    unread = [file for file in files if file.suffix.lower() in _OTHER_IMAGES]
    if unread:
        raise fault(f"{listed(unread)}: such images are not read, save them as .png or .jpg")
    images = [file for file in files if file.suffix.lower() in SUFFIXES]
    if not images:
        raise fault(f"{path}: there are no images ({', '.join(SUFFIXES)})")
    ignored = set(files) - set(images)
    if ignored:
        names = listed(sorted({file.name for file in ignored}))
        said.append(f"{path}: {len(ignored)} files ignored, no images: {names}")
    return images


def _arrays(path: Path, *names: str) -> list[NDArray[Any]]:
    try:
        with np.load(path, allow_pickle=False) as stored:
            if absent := [name for name in names if name not in stored]:
                raise fault(f"{path}: missing arrays: {listed(absent)}; found: {listed(stored)}")
            return [np.asarray(stored[name]) for name in names]
    except (*_DAMAGED, MemoryError) as error:  # of an array that claims to exceed any memory
        raise fault(f"{path}: not a readable .npz file: {error}") from error


def _pictures(path: Path, images: NDArray[np.generic]) -> list[NDArray[np.uint8]]:
    """Return the images (height, width, 3) of an array."""
    grey = images[..., None] if images.ndim == 3 else images
    if images.dtype != np.uint8 or grey.ndim != 4 or grey.shape[3] not in (1, 3) or not grey.size:
        shapes = "(n, height, width, 3), (n, height, width, 1) or (n, height, width)"
        found = f"{images.dtype} of shape {images.shape}"
        raise fault(f"{path}: `images` must be uint8, 0 to 255, of shape {shapes}; found {found}")
    return list(np.broadcast_to(grey, (*grey.shape[:3], 3)).astype(np.uint8, copy=False))


def _names(path: Path, labels: NDArray[np.generic], images: int) -> list[str]:
    if labels.shape != (images,) or labels.dtype.kind not in "iubU":
        wanted = f"whole numbers or strings of shape ({images},), one for each of `images`"
        found = f"{labels.dtype} of shape {labels.shape}"
        raise fault(f"{path}: `labels` must be {wanted}; found {found}")
    names = [str(label) for label in labels.tolist()]
    if "" in names:
        raise fault(f"{path}: `labels`: number {names.index('')} is empty")
    return names


def _one_size(pictures: Sequence[Picture], said: list[str]) -> Size:
    """Return the size of all `pictures`, or else one of their median shape, in multiples of 8."""
    sizes: list[Size] = []
    for picture in pictures:
        with suppress(*_DAMAGED):  # told when all are read
            sizes.append(_size(picture))
    if len(set(sizes)) == 1:
        return sizes[0]
    median = np.median(sizes or [(8, 8)], axis=0)
    sides = median * min(1, LARGEST / median.max())
    height, width = (max(8, 8 * round(side / 8)) for side in sides)
    said.append(f"images differ in size: `size: [{height}, {width}]` (height, width) was chosen")
    return height, width


def _images(path: Path, pictures: Sequence[Picture], size: Size, said: list[str]) -> Images:
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
        raise fault(listed(damaged))
    said += [f"{path}: {n} of {len(pictures)} images {change}" for change, n in changes.items()]
    return images


def _size(picture: Picture) -> Size:
    if not isinstance(picture, Path):
        return picture.shape[0], picture.shape[1]
    with Image.open(picture, formats=_FORMATS) as image:
        sideways = _orientation(image) in (5, 6, 7, 8)
        return image.size if sideways else (image.height, image.width)


def _orientation(image: Image.Image) -> object:
    """Return by which of eight ways EXIF data say to turn the image."""
    with suppress(*_DAMAGED):
        return image.getexif().get(ExifTags.Base.Orientation)
    return None


def _read(file: Path, changes: Counter[str]) -> Image.Image:
    """Return the image in `file` upright, in RGB, and on white."""
    image: Image.Image
    with Image.open(file, formats=_FORMATS) as image:
        image.load()  # damage ends here, not where EXIF data are looked for
        if _orientation(image) in range(2, 9):
            image = ImageOps.exif_transpose(image)
            changes["turned upright by their EXIF orientation"] += 1
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
        white = Image.new("RGBA", drawing.size, "white")
        white.alpha_composite(drawing)
        if drawing.getchannel("A").getextrema() != (255, 255):
            changes["transparent, drawn on white"] += 1
        return white.convert("RGB")
