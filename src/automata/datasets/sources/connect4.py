"""Connect-4 in LIBSVM's text format."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from automata.datasets.raw import Numbers, RawSplits, Rows, split_rows
from automata.datasets.sources import Source
from automata.errors import UserError

FILE = "connect-4"
FEATURES = 126
CLASSES = ["-1", "0", "1"]
"""Labels as in the file."""


def load(source: Source) -> RawSplits[Numbers]:
    """Return connect-4's float32 rows (n, 126), split by a fixed seed.

    The file has no split: 10 % of the rows become the validation rows, 20 % the test rows (of all
    rows, as in the appendix of the paper; the authors' code draws 10 % of the rows and then 10 %
    of what remains).

    Raises UserError if the file is not in LIBSVM's format.
    """
    rows = _read(source)
    count = len(rows)
    validation, test, train = split_rows(count, round(0.1 * count), round(0.2 * count))
    return RawSplits(
        train=rows[train],
        validation=rows[validation],
        test=rows[test],
        classes=list(CLASSES),
        source="LIBSVM, multiclass/connect-4",
        files=dict(source.checksums),
    )


def _read(source: Source) -> Rows[Numbers]:
    """Return all rows in the order of the file."""
    path = source.paths[FILE]
    try:
        sparse, labels = load_svmlight_file(
            str(path), n_features=FEATURES, zero_based=False, dtype=np.float32
        )
    except (ValueError, IndexError, OverflowError, OSError) as error:
        raise _malformed(source, str(error)) from error
    if len(labels) == 0:
        raise _malformed(source, "no rows")
    return Rows(sparse.toarray(), _from_zero(source, labels))


def _from_zero(source: Source, labels: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return labels (n,) of -1, 0 and 1 as 0, 1 and 2."""
    strange = labels[~np.isin(labels, [-1, 0, 1])]
    if len(strange):
        raise _malformed(source, f"label {strange[0]:g}")
    return labels.astype(np.int64) + 1


def _malformed(source: Source, found: str) -> UserError:
    text = (
        f"{source.name}: {source.paths[FILE]}: expected LIBSVM lines 'label index:value ...' with "
        f"labels -1, 0, 1 and indices 1 to {FEATURES}, found: {found}"
    )
    return UserError(" ".join(text.split()))
