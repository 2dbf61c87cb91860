"""A search with more configurations begins with the results of a finished one."""

from __future__ import annotations

import logging
import math
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any

from automata.errors import UserError
from automata.provenance import measurement
from automata.records import Record, read_record
from automata.runs import DEPTH
from automata.tuning.log import (
    LogHeader,
    SearchLog,
    SearchStarted,
    TrialReported,
    header_of,
    replay,
)
from automata.tuning.search import search_of

logger = logging.getLogger(__name__)


def extend(log: SearchLog, header: LogHeader, output: Path) -> None:
    """Begin an empty log with the results of the largest finished search that this one extends.

    The finished search has a record of the same run under another protocol, beside `output`. The
    new search takes its results up to the first one that it would not ask for. It takes all results
    of a trial or none, because a record has only the last progress of a trial. A search with
    screens extends none, because the numbers of its trials depend on its size.
    """
    if len(header.job.settings.protocol.screens) > 1:
        return
    records = _finished(header, output)
    by_size = {record.job.settings.protocol.configurations: record for record in records}
    if not by_size:
        return
    logger.info("%s: extends a finished search of %d configurations", output, max(by_size))
    entries = [*_entries(by_size[max(by_size)])]
    trials = [entry.index if isinstance(entry, TrialReported) else None for entry in entries]
    counts = range(replay(entries, search_of(header.job)), 0, -1)
    count = next(count for count in counts if {*trials[:count]} & {*trials[count:]} <= {None})
    for entry in entries[:count]:
        log.append(entry)


def _finished(header: LogHeader, output: Path) -> Iterator[Record]:
    """Yield the undamaged records beside `output` of this search with fewer configurations."""
    if len(output.parts) < DEPTH:
        return
    protocol, wanted = output.parents[2], header.job.settings.protocol.configurations
    method, _, _ = protocol.name.rpartition("-")
    size: Any = {"job": {"settings": {"protocol": {"configurations"}}}}
    for path in protocol.parent.glob(f"{method}-*/{output.relative_to(protocol)}"):
        with suppress(UserError):
            record = read_record(path)
            job = record.job
            versions = {part: record.version(part) for part in measurement(job.run.selector)}
            made_by = {**record.provenance, "measurement": versions}
            address = (record.tuning.cluster or {}).get("address")
            other = header_of(job, record.data.sha256, made_by, address)
            same = other.model_dump(exclude=size) == header.model_dump(exclude=size)
            if same and job.settings.protocol.configurations < wanted:
                yield record


def _entries(record: Record) -> Iterator[SearchStarted | TrialReported]:
    """Yield the results of a finished search in order, each with the measurement of its segment."""
    tuning, provenance = record.tuning, record.provenance
    starts = [segment.measurement.started_at for segment in tuning.segments]
    results = sorted(
        (evaluation.finished_at, trial.index, rung)
        for trial in tuning.trials
        for rung, evaluation in enumerate(trial.progress.evaluations, start=1)
    )
    for number, some in groupby(results, lambda it: max(0, bisect_right(starts, it[0]) - 1)):
        segment = tuning.segments[number]
        host, setup = segment.host, segment.setup_seconds
        yield SearchStarted(host=host, setup_seconds=setup, provenance=provenance)
        for _, index, rung in some:
            trial = tuning.trials[index]
            seen = trial.progress.evaluations[:rung]
            update: dict[str, Any] = {"evaluations": seen}
            if rung < len(trial.progress.evaluations) and math.isfinite(seen[-1].loss):
                update["failure"] = None  # the training diverged later
            yield TrialReported(
                index=index,
                configuration=trial.configuration,
                progress=trial.progress.model_copy(update=update),
                measurement=segment.measurement,
            )
