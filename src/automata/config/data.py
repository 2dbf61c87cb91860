"""Where data come from: downloads, word vectors, and the user's own data sets."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from automata.config.base import WHOLE, Count, Section, added

GLOVE = "https://nlp.stanford.edu/data/glove.6B.zip"

KIND = Field(description="`tabular`, `text` or `image`: names the protocol")
OwnPath = Annotated[
    str,
    Field(
        min_length=1,
        description="`.csv`, `.tsv` (also `.csv.gz`, `.tsv.gz`) or `.parquet`; images: an "
        "`.npz` with `images` and `labels`, or a folder with a folder per class",
    ),
]
OptionalPath = Annotated[
    str | None, Field(description="file like `path`; `null`: a part of its rows")
]
Column = Annotated[str, Field(min_length=1, description="name of a column")]
Side = Annotated[int, Field(ge=8, le=1024), WHOLE]

Separator = Annotated[
    str | None,
    Field(
        pattern=r"^[\t !#-~]$",
        description='the character between two cells of a text file, such as `";"` or `"\\t"`; '
        "`null`: `,` in `.csv`, tab in `.tsv`",
    ),
    added(None),
]
Encoding = Annotated[
    str | None,
    Field(
        min_length=1,
        description="of a text file, as Python names it: `latin-1`, `cp1252`, `utf-16`; `null`: "
        "UTF-8",
    ),
    added(None),
]
Group = Annotated[
    Column | None,
    Field(
        description="column whose rows of one value stay in one split, such as a patient; it is "
        "no feature; `null`: rows are drawn one by one"
    ),
    added(None),
]
Order = Annotated[
    Column | None,
    Field(
        description="column of numbers or dates by which the last rows are for testing and those "
        "before them for validation; it is no feature; `null`: rows are drawn at random"
    ),
    added(None),
]


SkipRows = Annotated[
    bool,
    Field(
        description="leave out rows without a class, and those of classes with fewer rows than "
        "splits; `false`: such rows are refused"
    ),
    added(False),
]
HasHeader = Annotated[
    bool,
    Field(
        description="`false` where the first line of a text file is a row: columns are then "
        "`column 1`, `column 2`, ..."
    ),
    added(True),
]


class OwnTabular(Section):
    """A user's table: CSV or Parquet, one row per sample."""

    kind: Annotated[Literal["tabular"], KIND]
    path: OwnPath
    target: Annotated[Column, Field(description="column of the classes")]
    validation: OptionalPath = None
    test: OptionalPath = None
    categorical: Annotated[
        list[Column],
        Field(
            description="columns of numbers that are names of categories; columns of texts are so "
            "anyway"
        ),
    ] = []
    fill: Annotated[
        dict[Column, bool | float | str],
        Field(
            description="column -> what its missing cells become: a value, or `mean` or `median` "
            "of the training rows. `numbers` and `texts` stand for all other columns with "
            "numbers, with categories"
        ),
    ] = {}
    drop: Annotated[list[Column], Field(description="columns to leave out"), added([])] = []
    dates: Annotated[
        list[Column],
        Field(description="columns of dates, which become numbers: days since 1970-01-01"),
        added([]),
    ] = []
    rare_below: Annotated[
        int | None,
        Field(
            ge=2,
            description="of each column, categories with fewer training rows than this become one, "
            "`(rare)`; so does what no training row has; `null`: none do",
        ),
        WHOLE,
        added(None),
    ] = None
    group: Group = None
    order: Order = None
    separator: Separator = None
    decimal: Annotated[
        str | None,
        Field(
            pattern="^[.,]$",
            description="the decimal mark of numbers in a text file; `null`: a point",
        ),
        added(None),
    ] = None
    missing: Annotated[
        list[Annotated[str, Field(min_length=1)]],
        Field(
            description='further marks of a missing cell in a text file, such as `"?"`; an empty '
            "cell, NA, NaN, NULL and None always are"
        ),
        added([]),
    ] = []
    encoding: Encoding = None
    skip_rows: SkipRows = False
    header: HasHeader = True


class OwnText(Section):
    """A user's texts: a table, one row per sample, or a folder with one of files per class."""

    kind: Annotated[Literal["text"], KIND]
    path: Annotated[
        str,
        Field(
            min_length=1,
            description="a table, or a folder with a folder of `.txt` files per class",
        ),
    ]
    text: Annotated[Column, Field(description="column of the texts, in a table")] = "text"
    target: Annotated[Column, Field(description="column of the classes, in a table")] = "class"
    validation: OptionalPath = None
    test: OptionalPath = None
    group: Group = None
    order: Order = None
    separator: Separator = None
    encoding: Encoding = None
    skip_rows: SkipRows = False
    header: HasHeader = True


class OwnImage(Section):
    """A user's images: an .npz with `images` and `labels`, or a folder with one per class."""

    kind: Annotated[Literal["image"], KIND]
    path: OwnPath
    validation: OptionalPath = None
    test: OptionalPath = None
    flip: Annotated[
        bool, Field(description="`false` where a mirrored image is another class, as with digits")
    ] = True
    size: Annotated[
        tuple[Side, Side] | None,
        Field(
            description="[height, width] in pixels: images of other sizes are resized, then "
            "cropped at the centre; `null`: the size of the training images, or, if they differ, "
            "of their median shape, with sides of 8 to 64 pixels"
        ),
        added(None),
    ] = None


OwnDataset = Annotated[OwnTabular | OwnText | OwnImage, Field(discriminator="kind")]


class Vectors(Section):
    """Pretrained word vectors."""

    source: Annotated[
        str | None,
        Field(
            description="pretrained word vectors, a file or URL: GloVe's text (`.txt`, or a `.zip` "
            "of such) or `.npz` with `words` and `vectors`; `null`: random vectors"
        ),
    ] = GLOVE
    dimension: Annotated[Count, Field(description="length of a vector")] = 300


Neutral = Annotated[
    Literal["scores", "trees"],
    Field(
        description="the class of `sst2`'s neutral sentences: `scores` (the paper: above 0.5 is "
        "positive; needs `stanfordSentimentTreebank.zip`) or `trees` (the mean "
        "label of their phrases)"
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

    cache: Annotated[str, Field(description="folder of downloaded files")] = "results/downloads"
    mirror: Annotated[
        str | None,
        Field(
            description="a folder or a base URL that is tried first, under the official file "
            "names; the checksums are the same"
        ),
    ] = None
    vectors: Vectors = Vectors()
    sst2_neutral: Neutral = "trees"
