"""Sources of data: downloads, word vectors, and the user's own data sets."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from automata.config.base import WHOLE, BadKeyError, Count, Section, Text, added, invalid

VECTORS = {"source": None, "dimension": 100}
"""Random vectors of words: they need no download."""

GLOVE = "https://nlp.stanford.edu/data/glove.6B.zip"
GLOVE_DIMENSIONS = (50, 100, 200, 300)

Side = Annotated[int, Field(ge=8, le=1024), WHOLE]


class OwnData(Section):
    """A user's own data set."""

    kind: Literal["tabular", "text", "image"]
    """kind of data, which selects the protocol"""
    path: Text
    """file or folder of the data. Tables: `.csv`, `.tsv`, both also with `.gz`, or `.parquet`.
    Texts: a table, or a folder with a subfolder of `.txt` files for each class. Images: an `.npz`
    file with `images` and `labels`, or a folder with a subfolder for each class"""
    validation: str | None = None
    """validation set, in the format of `path`; `null`: split off from the data"""
    test: str | None = None
    """test set, in the format of `path`; `null`: split off from the data"""


class OwnRows(OwnData):
    """A user's table with one row per sample."""

    target: Text
    """column of the classes"""
    group: Annotated[Text | None, added(None)] = None
    """column of groups, for example patients: all rows of a group are in the same split. The column
    is not a feature. `null`: rows are split individually"""
    order: Annotated[Text | None, added(None)] = None
    """column of numbers or dates: the last rows are the test set, those before them the validation
    set. The column is not a feature. `null`: random splits"""
    separator: Annotated[str | None, Field(pattern=r"^[\t !#-~]$"), added(None)] = None
    """separator of cells in a text file, for example `";"` or `"\\t"`; `null`: detected"""
    encoding: Annotated[Text | None, added(None)] = None
    """encoding of a text file, as in Python, for example `cp1252`; `null`: UTF-8, or UTF-16 with a
    mark"""
    skip_rows: Annotated[bool, added(False)] = False
    """leave out rows without a class, and rows of classes that have fewer rows than there are
    splits; `false`: such rows are an error"""
    drop_duplicates: Annotated[bool, added(False)] = False
    """leave out rows whose features and class are those of a row above, or of a training file's row
    in other files"""
    header: Annotated[bool, added(True)] = True
    """the first line of a text file has the column names; `false`: they are `column 1`, ..."""


class OwnTabular(OwnRows):
    """A user's table: CSV or Parquet, one row per sample."""

    kind: Literal["tabular"]
    """kind of data, which selects the protocol"""
    categorical: list[Text] = []
    """columns of numbers that stand for categories; columns of texts always do"""
    drop: Annotated[list[Text], added([])] = []
    """columns to leave out"""
    rare_below: Annotated[int | None, Field(ge=2), WHOLE, added(None)] = None
    """categories with fewer training rows than this, or with none, become one category, `(rare)`.
    `null`: the 255 most frequent categories are kept"""
    decimal: Annotated[str | None, Field(pattern="^[.,]$"), added(None)] = None
    """decimal mark in a text file; `null`: detected"""
    missing: Annotated[list[Text], added([])] = []
    """further marks of a missing cell, for example `"?"`; the empty cell, NA, NaN, NULL and None
    always are"""


class OwnText(OwnRows):
    """A user's texts: a table with one row per sample, or a folder with a subfolder per class."""

    kind: Literal["text"]
    """kind of data, which selects the protocol"""
    target: Text = "class"
    """column of the classes, in a table"""
    text: Text = "text"
    """column of the texts, in a table"""


class OwnImage(OwnData):
    """A user's images: an .npz file, or a folder with a subfolder per class."""

    kind: Literal["image"]
    """kind of data, which selects the protocol"""
    flip: bool = True
    """whether a mirrored image keeps its class; `false`, for example, for digits"""
    size: Annotated[tuple[Side, Side] | None, added(None)] = None
    """`[height, width]` in pixels: images are resized, then cropped at the centre. `null`: the size
    of the training images; if they differ, their median shape, with sides of 8 to 64 pixels"""


OwnDataset = Annotated[OwnTabular | OwnText | OwnImage, Field(discriminator="kind")]


class Vectors(Section):
    """Pretrained word vectors."""

    source: str | None = GLOVE
    """file or URL of pretrained word vectors: in GloVe's text format (`.txt`, or `.zip` of `.txt`)
    or `.npz` with `words` and `vectors`; `null`: random vectors"""
    dimension: Count = 300
    """length of a vector"""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.source == GLOVE and self.dimension not in GLOVE_DIMENSIONS:
            valid = " or ".join(map(str, GLOVE_DIMENSIONS))
            raise BadKeyError(["dimension"], invalid(self.dimension, f"{valid} of {GLOVE}"))
        return self


Neutral = Literal["scores", "trees"]


class Preparation(Section):
    """The settings that decide the content of one prepared file."""

    vectors: Vectors | None = None
    sst2_neutral: Neutral | None = None
    own: OwnDataset | None = None

    def stated(self) -> dict[str, Any]:
        """Return the settings that are not None, as plain data."""
        values = self.model_dump(mode="json")
        return {name: value for name, value in values.items() if value is not None}


class DataSettings(Section):
    """Sources of data; `cache` and `mirror` do not change the content of data sets."""

    cache: str = "results/downloads"
    """folder of downloaded files"""
    mirror: str | None = None
    """folder or base URL to try first; its files have the official names and checksums"""
    vectors: Vectors = Vectors()
    sst2_neutral: Neutral = "trees"
    """class of the neutral sentences of `sst2`. `scores`, as in the paper: positive if the score is
    above 0.5; needs `stanfordSentimentTreebank.zip`. `trees`: by the mean label of their phrases"""
