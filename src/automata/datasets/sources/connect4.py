"""Connect-4 in LIBSVM's text format."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_svmlight_file

from automata.datasets.raw import Numbers, RawSplits, Rows, split_rows
from automata.datasets.sources import Source

FILE = "connect-4"
FEATURES = 126
CLASSES = ["-1", "0", "1"]
"""Labels as in the file."""


def load(source: Source) -> RawSplits[Numbers]:
    """Return connect-4's float32 rows (n, 126), split by a fixed seed.

    The file has no split: 10 % of the rows become the validation rows, 20 % the test rows (of all
    rows, as in the appendix of the paper; the authors' code draws 10 % of the rows and then 10 %
    of what remains).
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
    """Return all rows in the order of the file; its labels -1, 0 and 1 become 0, 1 and 2."""
    sparse, labels = load_svmlight_file(
        str(source.paths[FILE]), n_features=FEATURES, zero_based=False, dtype=np.float32
    )
    return Rows(sparse.toarray(), labels.astype(np.int64) + 1)
