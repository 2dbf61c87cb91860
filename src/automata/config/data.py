"""Where data come from: downloads, word vectors, and the user's own data sets."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from automata.config.base import WHOLE, Count, Section, Text, added

GLOVE = "https://nlp.stanford.edu/data/glove.6B.zip"

Side = Annotated[int, Field(ge=8, le=1024), WHOLE]


class OwnData(Section):
    """A user's own data set."""

    kind: Literal["tabular", "text", "image"]
    """`tabular`, `text` or `image`: names the protocol"""
    path: Text
    """`.csv`, `.tsv` (also `.csv.gz`, `.tsv.gz`) or `.parquet`; texts: also a folder with a folder
    of `.txt` files per class; images: an `.npz` with `images` and `labels`, or a folder with a
    folder per class"""
    validation: str | None = None
    """file like `path`; `null`: a part of its rows"""
    test: str | None = None
    """file like `path`; `null`: a part of its rows"""


class OwnRows(OwnData):
    """A user's table, with one row per sample."""

    target: Text
    """column of the classes"""
    group: Annotated[Text | None, added(None)] = None
    """column whose rows of one value stay in one split, such as a patient; it is no feature;
    `null`: rows are drawn one by one"""
    order: Annotated[Text | None, added(None)] = None
    """column of numbers or dates by which the last rows are for testing and those before them for
    validation; it is no feature; `null`: rows are drawn at random"""
    separator: Annotated[str | None, Field(pattern=r"^[\t !#-~]$"), added(None)] = None
    """the character between two cells of a text file, such as `";"` or `"\\t"`; `null`: the one
    that the file shows"""
    encoding: Annotated[Text | None, added(None)] = None
    """encoding of a text file, as Python names it: `latin-1`, `cp1252`, `utf-16`; `null`: the one
    that the file shows"""
    skip_rows: Annotated[bool, added(False)] = False
    """leave out rows without a class, and those of classes with fewer rows than splits; `false`:
    such rows are refused"""
    header: Annotated[bool, added(True)] = True
    """`false` where the first line of a text file is a row: columns are then `column 1`,
    `column 2`, ..."""


class OwnTabular(OwnRows):
    """A user's table: CSV or Parquet, one row per sample."""

    kind: Literal["tabular"]
    """`tabular`, `text` or `image`: names the protocol"""
    categorical: list[Text] = []
    """columns of numbers that are names of categories; columns of texts are so anyway"""
    fill: dict[Text, bool | float | str] = {}
    """column -> what its missing cells become: a value, or `mean` or `median` of the training rows.
    `numbers` and `texts` stand for all other columns with numbers, with categories"""
    drop: Annotated[list[Text], added([])] = []
    """columns to leave out"""
    dates: Annotated[list[Text], added([])] = []
    """columns of dates, which become numbers: days since 1970-01-01"""
    rare_below: Annotated[int | None, Field(ge=2), WHOLE, added(None)] = None
    """categories of a column with fewer training rows than this become one, `(rare)`, which also
    takes categories that no training row has; `null`: every category stays"""
    decimal: Annotated[str | None, Field(pattern="^[.,]$"), added(None)] = None
    """the decimal mark of numbers in a text file; `null`: the one that the file shows"""
    missing: Annotated[list[Text], added([])] = []
    """further marks of a missing cell in a text file, such as `"?"`; an empty cell, NA, NaN, NULL
    and None always are"""


class OwnText(OwnRows):
    """A user's texts: a table, one row per sample, or a folder with one of files per class."""

    kind: Literal["text"]
    """`tabular`, `text` or `image`: names the protocol"""
    target: Text = "class"
    """column of the classes, in a table"""
    text: Text = "text"
    """column of the texts, in a table"""


class OwnImage(OwnData):
    """A user's images: an .npz with `images` and `labels`, or a folder with one per class."""

    kind: Literal["image"]
    """`tabular`, `text` or `image`: names the protocol"""
    flip: bool = True
    """`false` where a mirrored image is another class, as with digits"""
    size: Annotated[tuple[Side, Side] | None, added(None)] = None
    """[height, width] in pixels: images of other sizes are resized, then cropped at the centre;
    `null`: the size of the training images, or, if they differ, of their median shape, with sides
    of 8 to 64 pixels"""


OwnDataset = Annotated[OwnTabular | OwnText | OwnImage, Field(discriminator="kind")]


class Vectors(Section):
    """Pretrained word vectors."""

    source: str | None = GLOVE
    """pretrained word vectors, a file or URL: GloVe's text (`.txt`, or a `.zip` of such) or `.npz`
    with `words` and `vectors`; `null`: random vectors"""
    dimension: Count = 300
    """length of a vector"""


Neutral = Literal["scores", "trees"]


class Preparation(Section):
    """The part of the data settings that decides what is in one prepared file."""

    vectors: Vectors | None = None
    sst2_neutral: Neutral | None = None
    own: OwnDataset | None = None

    def stated(self) -> dict[str, Any]:
        """Return the settings that there are, with each of their keys."""
        values = self.model_dump(mode="json")
        return {name: value for name, value in values.items() if value is not None}


class DataSettings(Section):
    """How data sets are had; `cache` and `mirror` never change what is in them."""

    cache: str = "results/downloads"
    """folder of downloaded files"""
    mirror: str | None = None
    """a folder or a base URL that is tried first, under the official file names; the checksums are
    the same"""
    vectors: Vectors = Vectors()
    sst2_neutral: Neutral = "trees"
    """the class of `sst2`'s neutral sentences: `scores` (the paper: above 0.5 is positive; needs
    `stanfordSentimentTreebank.zip`) or `trees` (the mean label of their phrases)"""
