"""Where data come from: downloads, word vectors, and the user's own data sets."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from automata.config.base import WHOLE, Count, Section, added

GLOVE = "https://nlp.stanford.edu/data/glove.6B.zip"

OwnPath = Annotated[str, Field(min_length=1, description="File, seen from the working directory")]
OptionalPath = Annotated[
    str | None, Field(description="File like `path`; without it, a seeded stratified split")
]
Column = Annotated[str, Field(min_length=1, description="Name of a column")]

Separator = Annotated[
    str | None,
    Field(
        pattern=r"^[\t !#-~]$",
        description="Character between two cells of a text file; null: , in .csv, tab in .tsv",
    ),
    added(None),
]
Encoding = Annotated[
    str | None,
    Field(
        min_length=1,
        description="Encoding of a text file, as Python names it; null: utf-8",
    ),
    added(None),
]


class OwnTabular(Section):
    """A user's table: CSV or Parquet, one row per sample."""

    kind: Literal["tabular"]
    path: OwnPath
    target: Annotated[Column, Field(description="Column of the classes")]
    validation: OptionalPath = None
    test: OptionalPath = None
    categorical: Annotated[
        list[Column], Field(description="Columns of numbers that are names of categories")
    ] = []
    fill: Annotated[
        dict[Column, float | str],
        Field(
            description="Column -> what its missing cells become: a value, mean or median; "
            "`numbers` and `texts` stand for all other columns of numbers, of categories"
        ),
    ] = {}
    drop: Annotated[list[Column], Field(description="Columns that are left out"), added([])] = []
    dates: Annotated[
        list[Column],
        Field(description="Columns of dates: they become days since 1970-01-01"),
        added([]),
    ] = []
    rare_below: Annotated[
        int | None,
        Field(
            ge=2,
            description="Categories with fewer training rows become one, `(rare)`; null: none do",
        ),
        WHOLE,
        added(None),
    ] = None
    separator: Separator = None
    decimal: Annotated[
        str | None,
        Field(
            pattern="^[.,]$",
            description="Decimal point or comma of the numbers in a text file; null: the point",
        ),
        added(None),
    ] = None
    encoding: Encoding = None


class OwnText(Section):
    """A user's texts: CSV or Parquet, one row per sample."""

    kind: Literal["text"]
    path: OwnPath
    text: Annotated[Column, Field(description="Column of the texts")]
    target: Annotated[Column, Field(description="Column of the classes")]
    validation: OptionalPath = None
    test: OptionalPath = None
    separator: Separator = None
    encoding: Encoding = None


class OwnImage(Section):
    """A user's images: an .npz with `images` and `labels`, or a folder with one per class."""

    kind: Literal["image"]
    path: OwnPath
    validation: OptionalPath = None
    test: OptionalPath = None
    flip: Annotated[bool, Field(description="A mirrored image keeps its class")] = True


OwnDataset = Annotated[OwnTabular | OwnText | OwnImage, Field(discriminator="kind")]


class Vectors(Section):
    """Pretrained word vectors."""

    source: Annotated[
        str | None,
        Field(
            description="File or URL: text of GloVe (.txt, or .zip of such), or .npz with "
            "`words` and `vectors`; null: random vectors"
        ),
    ] = GLOVE
    dimension: Annotated[Count, Field(description="Length of a vector")] = 300


Neutral = Annotated[
    Literal["scores", "trees"],
    Field(
        description="How sst2 classes neutral sentences. scores: by their sentiment score, as the "
        "paper (needs stanfordSentimentTreebank.zip); trees: by the mean label of their phrases"
    ),
]


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

    cache: Annotated[str, Field(description="Folder of downloaded files")] = "results/downloads"
    mirror: Annotated[
        str | None,
        Field(description="Folder or base URL that is tried first, under the official file names"),
    ] = None
    vectors: Vectors = Vectors()
    sst2_neutral: Neutral = "trees"
