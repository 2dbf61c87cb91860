"""The published searches decide the same once more, from their scores alone.

They have the same configurations in their order, stop every trial at the same rung, and have the
same best. None without a scheduler is published.
"""

from __future__ import annotations

import tarfile
from collections import defaultdict
from pathlib import Path

import pytest

from automata.records.record import Record, parse_as

from .replay import differences

pytestmark = pytest.mark.slow

REFERENCE = Path(__file__).parents[3] / "results/reference"

SEARCHES = {
    ("random", "hyperband"): 316,
    ("random", "one-epoch"): 12,
    ("random", "asha"): 304,
    ("tpe", "hyperband"): 298,
    ("tpe", "asha"): 298,
}
"""Search and scheduler -> how many published searches there are: 1,228 in all."""


@pytest.fixture(scope="module")
def searches() -> dict[tuple[str, str], list[Record]]:
    found = defaultdict(list)
    for archive in sorted(REFERENCE.glob("*/records.tar.xz")):
        with tarfile.open(archive) as tar:
            for member in tar:
                file = tar.extractfile(member)
                if file is None:
                    continue
                record = parse_as(Record, file.read().decode(), member.name, "")
                run = record.job.run
                if run.searches:
                    found[run.search, run.scheduler].append(record)
    return found


def test_all_published_searches_are_there(searches: dict[tuple[str, str], list[Record]]) -> None:
    assert {decided_by: len(records) for decided_by, records in searches.items()} == SEARCHES


@pytest.mark.parametrize("decided_by", SEARCHES)
def test_searches_decide_as_published(
    searches: dict[tuple[str, str], list[Record]], decided_by: tuple[str, str]
) -> None:
    assert [found for record in searches[decided_by] for found in differences(record)] == []
