"""A user's images: arrays in an .npz, or a folder with one of image files per class."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from automata.config.data import OwnImage
from automata.datasets.own.paths import KEYS, fault, given_paths, listed
from automata.datasets.own.splits import FileLabels, assign, raw_splits
from automata.datasets.raw import Images, RawSplits
from automata.files import visible_files

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp")
SHAPES = "(n, height, width, 3), (n, height, width, 1) or (n, height, width)"

_BYTE_MODES = {"1", "L", "LA", "La", "P", "PA", "RGB", "RGBA", "RGBa", "RGBX", "CMYK", "YCbCr"}
_DAMAGED = (
    OSError,
    EOFError,
    SyntaxError,
    ValueError,
    IndexError,
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
)
_NOT_ARRAYS = (
    OSError,
    EOFError,
    MemoryError,  # of an array that claims to be larger than any memory
    TypeError,
    ValueError,
    KeyError,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclass(frozen=True)
class Pictures:
    """Images (n, 3, height, width) uint8 of one file or folder, their labels, and their names."""

    images: Images
    labels: FileLabels
    place: Callable[[int], str]
    """Says which image a row number is, for messages."""


def load(name: str, own: OwnImage) -> RawSplits[Images]:
    """Return the splits of a user's images: inputs (n, 3, height, width) uint8.

    Grey images have the same values in all three channels.

    Raises UserError for arrays and files that are no images, images of several sizes, and what
    cannot be split.
    """
    paths = given_paths(name, own)
    pictures = {split: _read(name, split, path) for split, path in paths.items()}
    _require_one_size(pictures)
    classes, parts = assign(name, {split: read.labels for split, read in pictures.items()})
    return raw_splits(
        paths,
        classes,
        parts,
        lambda part: np.ascontiguousarray(pictures[part.file].images[part.rows]),
    )


def read_unlabelled(path: Path) -> tuple[Images, list[str]]:
    """Return images (n, 3, height, width) without classes, and their names.

    `path` is an image, a folder with any below it, or an `.npz` with `images`. Raises UserError
    for anything else, and where sizes differ.
    """
    if path.suffix.lower() == ".npz":
        pixels = _channels(path, _arrays(path, "images")[0])
        return pixels, [str(number) for number in range(1, len(pixels) + 1)]
    every = visible_files(path) if path.is_dir() else [path]
    files = [file for file in every if file.suffix.lower() in SUFFIXES]
    images = _stacked(files)
    if images is None:
        raise fault(f"{path}: there are no images ({', '.join(SUFFIXES)})")
    return images, [str(file.relative_to(path)) if path.is_dir() else file.name for file in files]


def _read(name: str, split: str, path: Path) -> Pictures:
    if path.is_dir():
        return _read_folder(path)
    if path.suffix.lower() == ".npz":
        return _read_arrays(path)
    raise fault(f"own_datasets.{name}.{KEYS[split]}: {no_images(path)}")


def _require_one_size(pictures: dict[str, Pictures]) -> None:
    """Raise UserError if files or folders, each of one size, differ."""
    first = pictures["train"]
    for other in pictures.values():
        if other.images.shape[1:] != first.images.shape[1:]:
            raise _sizes_differ(
                (first.place(0), _size(first.images[0])), (other.place(0), _size(other.images[0]))
            )


def _size(image: NDArray[np.uint8]) -> tuple[int, int]:
    """Return width and height of an image (3, height, width), in pixels."""
    _, height, width = image.shape
    return width, height


def _sizes_differ(
    first: tuple[str, tuple[int, int]], other: tuple[str, tuple[int, int]]
) -> Exception:
    said = [f"{place} has {width} x {height} pixels" for place, (width, height) in (first, other)]
    return fault(f"{said[0]}, {said[1]}: all images must have one size")


def _arrays(path: Path, *names: str) -> list[NDArray[Any]]:
    try:
        with np.load(path, allow_pickle=False) as stored:
            absent = missing_array(path, list(stored), names)
            if absent is not None:
                raise fault(absent)
            arrays = [stored[name] for name in names]
            if not all(isinstance(array, np.ndarray) for array in arrays):
                raise ValueError("what it holds are no arrays")
    except _NOT_ARRAYS as error:
        raise fault(f"{path}: not a readable .npz file: {error}") from error
    return arrays


def _read_arrays(path: Path) -> Pictures:
    images, labels = _arrays(path, "images", "labels")
    pixels = _channels(path, images)
    names = _names(path, labels, len(pixels))
    said = FileLabels(names, f"{path}: `labels`", lambda row: f"number {row}")
    return Pictures(pixels, said, lambda row: f"{path}: image {row}")


def _channels(path: Path, images: NDArray[np.generic]) -> Images:
    """Return (n, 3, height, width) of any of `SHAPES`."""
    found = f"{images.dtype} of shape {images.shape}"
    if images.dtype != np.uint8:
        raise fault(f"{path}: `images` must be uint8, 0 to 255, of shape {SHAPES}; found {found}")
    grey = images[..., None] if images.ndim == 3 else images
    if grey.ndim != 4 or grey.shape[3] not in (1, 3) or 0 in grey.shape[1:]:
        raise fault(f"{path}: `images` must have shape {SHAPES}; found {found}")
    colour = np.broadcast_to(grey, (*grey.shape[:3], 3))
    return np.ascontiguousarray(colour.transpose(0, 3, 1, 2), dtype=np.uint8)


def _names(path: Path, labels: NDArray[np.generic], images: int) -> list[str]:
    if labels.shape != (images,):
        raise fault(
            f"{path}: `labels` must have shape ({images},), one for each of `images`; "
            f"found {labels.shape}"
        )
    if labels.dtype.kind not in "iubU":
        raise fault(f"{path}: `labels` must be whole numbers or strings; found {labels.dtype}")
    names = [str(label) for label in labels.tolist()]
    if "" in names:
        raise fault(f"{path}: `labels`: number {names.index('')} is empty")
    return names


def _read_folder(folder: Path) -> Pictures:
    files = _image_files(folder)
    images = _stacked(files)
    if images is None:
        raise fault(f"{folder}: there are no images; expected one folder of them per class")
    labels = FileLabels(
        [file.parent.name for file in files], str(folder), lambda row: files[row].name
    )
    return Pictures(images, labels, lambda row: str(files[row]))


def _stacked(files: list[Path]) -> Images | None:
    """Return the images in `files`, filled one by one: a list would need the memory twice."""
    images: Images | None = None
    for number, file in enumerate(files):
        image = _read_image(file)
        if images is None:
            images = np.empty((len(files), *image.shape), dtype=np.uint8)
        if image.shape != images.shape[1:]:
            raise _sizes_differ((str(files[0]), _size(images[0])), (str(file), _size(image)))
        images[number] = image
    return images


def _image_files(folder: Path) -> list[Path]:
    """Return the images of all classes, sorted by class and name."""
    files = visible_files(folder)
    for file in files:
        if not file.is_file():  # a pipe would never end
            raise fault(f"{file}: not a regular file")
        if file.suffix.lower() not in SUFFIXES:
            raise fault(f"{file}: the name of an image must end in one of {', '.join(SUFFIXES)}")
        if file.parent.parent != folder:
            raise fault(f"{file}: images must be in folders named by class: {folder}/class/image")
    full = {file.parent for file in files}
    for inside in sorted(folder.iterdir()):
        if inside.is_dir() and not inside.name.startswith(".") and inside not in full:
            raise fault(f"{inside}: there are no images of this class")
    return files


def _read_image(file: Path) -> Images:
    """Return the image (3, height, width) in `file`."""
    try:
        with Image.open(file) as image:
            mode = image.mode
            pixels = np.asarray(image.convert("RGB"), dtype=np.uint8)
    except _DAMAGED as error:
        raise fault(f"{file}: not a readable image: {error}") from error
    if mode not in _BYTE_MODES:
        raise fault(f"{file}: it has more than 8 bits per channel (mode {mode}), save it with 8")
    return pixels.transpose(2, 0, 1)


def no_images(path: Path) -> str:
    """Say that `path` holds no images in a form that is read."""
    return (
        f"'{path}' is neither an .npz with `images` and `labels` nor a folder with a folder of "
        "images per class"
    )


def missing_array(path: Path, stored: list[str], needed: tuple[str, ...]) -> str | None:
    """Say which `needed` array an .npz lacks that has those that are `stored`, None if none."""
    for name in needed:
        if name not in stored:
            every = " and ".join(f"`{name}`" for name in needed)
            found = listed(stored)
            return f"{path}: array `{name}` is missing, it must have {every}; found: {found}"
    return None
