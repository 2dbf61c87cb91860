"""Published results, and what is made from their records."""

from pathlib import Path

import pandas as pd


def assert_same(found: Path, expected: Path) -> None:
    """Check that two tables have the same values, but for the paths of records.

    Texts must be equal to the byte: they have numbers of tables that are not published, rounded.
    """
    if expected.suffix != ".csv":
        assert found.read_text() == expected.read_text(), expected
        return
    one, other = pd.read_csv(found), pd.read_csv(expected)
    lineage = [column for column in other if "record" in column]
    pd.testing.assert_frame_equal(
        one.drop(columns=lineage), other.drop(columns=lineage), obj=str(expected)
    )
