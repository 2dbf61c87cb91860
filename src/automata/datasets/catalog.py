"""What the data sets are: kinds and counts, as the paper's appendix lists them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["tabular", "text", "image"]


@dataclass(frozen=True)
class DatasetSpec:
    """Expected shape of one data set; counts are rows (paper, tables of the appendix)."""

    kind: Kind
    classes: int
    features: int
    train: int
    validation: int
    test: int


DATASETS: dict[str, DatasetSpec] = {
    "dna": DatasetSpec("tabular", 3, 180, 1400, 600, 1186),
    "satimage": DatasetSpec("tabular", 6, 36, 3104, 1331, 2000),
    "letter": DatasetSpec("tabular", 26, 16, 10500, 4500, 5000),
}
