"""The published searches once more, from their scores alone: every decision comes out the same.

Same configurations in their order, every trial stopped at the same rung, same best. There are 1,144
searches in the archive `protocol` and 24 in `default`, half of them by random search and half by
TPE, of these half under Hyperband and half under ASHA. `confirmation` has 27 and
`confirmation-sst5` nine by random search, a third of them with one epoch for all. None is published
that had no scheduler: test_search.py has some by hand, and test_ray_search.py compares one with
Ray.
"""

from __future__ import annotations

import tarfile
from collections import defaultdict
from pathlib import Path

import pytest

from automata.records import Record, parse_record

from .replay import differences

REFERENCE = Path(__file__).parents[3] / "results/reference"

SEARCHES = {
    ("random", "hyperband"): 304,
    ("random", "one-epoch"): 12,
    ("random", "asha"): 292,
    ("tpe", "hyperband"): 298,
    ("tpe", "asha"): 298,
}
"""Search and scheduler -> how many published searches there are: 1,204 in all."""

SAMPLED = 12
"""Of TPE, which takes 40 ms a search, one in so many is replayed by `make test`."""


@pytest.fixture(scope="module")
def searches() -> dict[tuple[str, str], list[Record]]:
    found = defaultdict(list)
    for archive in sorted(REFERENCE.glob("*/records.tar.xz")):
        with tarfile.open(archive) as tar:
            for member in tar:
                file = tar.extractfile(member)
                if file is None:
                    continue
                record = parse_record(file.read().decode(), member.name)
                run = record.job.run
                if run.searches:
                    found[run.search, run.scheduler].append(record)
    return found


def test_all_published_searches_are_there(searches: dict[tuple[str, str], list[Record]]) -> None:
    assert {decided_by: len(records) for decided_by, records in searches.items()} == SEARCHES


def otherwise(records: list[Record]) -> list[str]:
    return [found for record in records for found in differences(record)]


@pytest.mark.parametrize("scheduler", ["hyperband", "asha", "one-epoch"])
def test_random_searches_decide_as_published(
    searches: dict[tuple[str, str], list[Record]], scheduler: str
) -> None:
    assert otherwise(searches["random", scheduler]) == []


@pytest.mark.parametrize("scheduler", ["hyperband", "asha"])
def test_some_tpe_searches_decide_as_published(
    searches: dict[tuple[str, str], list[Record]], scheduler: str
) -> None:
    assert otherwise(searches["tpe", scheduler][::SAMPLED]) == []


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", ["hyperband", "asha"])
def test_tpe_searches_decide_as_published(
    searches: dict[tuple[str, str], list[Record]], scheduler: str
) -> None:
    assert otherwise(searches["tpe", scheduler]) == []
