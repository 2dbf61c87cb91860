"""The progress of jobs, the counts of runs, and what an experiment is expected to need."""

import os
import platform
import re
from pathlib import Path

import pytest

from automata.config.files import read_experiments
from automata.experiment.grid import Grid
from automata.experiment.status import SILENT_SECONDS, report, running
from automata.locks import Holder, held
from automata.records.progress import Evaluation, Progress, Seconds
from automata.tuning.log import (
    LogHeader,
    PhaseEnded,
    PhaseStarted,
    SearchLog,
    TrialReported,
    TrialSaved,
)
from support.searching import make_job, measured

ROOT = Path(__file__).parents[3]
STEM = "dna/random-none-0123abcd/gradmatch-0.1/seed-0"
BEGUN = 4e9
"""Start of the job, later than that of any process today; its search starts 10 s later."""
START = BEGUN + 10


def job(selector="gradmatch", scheduler="none", **changed):
    """Return a job of five trials of ten epochs; on all rows it has no final training."""
    return make_job(run={"selector": selector, "scheduler": scheduler}, epochs=10, **changed)


def result(index, accuracy, measurement, epochs=10, loss=None):
    """Return a trial on 10 of 100 rows, at 0.1 s an epoch; a `loss` is its metric."""
    scores = {"accuracy": accuracy, "loss": loss or 0.1}
    progress = Progress(
        epochs=epochs,
        samples=10 * epochs,
        subset_samples=10,
        seconds=Seconds(training=0.1 * epochs),
        evaluations=[Evaluation(epoch=epochs, **scores, finished_at=0.0)],
        metric="log_loss" if loss else "accuracy",
    )
    return TrialReported(
        index=index, configuration={}, rung=1, progress=progress, measurement=measurement
    )


OPENED = PhaseStarted(host="here", setup_seconds=1.0, provenance={})
HALF = [
    OPENED,
    result(0, 0.5, measured(1.0, START)),
    result(1, 0.75, None),
    result(2, 0.7, measured(4.0, START)),
]
ENDED = [*HALF, PhaseEnded(measurement=measured(4.0, START))]
RESUMED = [*HALF, OPENED, result(3, 0.6, measured(6.0, BEGUN + 110))]
FOUR = [result(index, 0.5, measured(8.0, START), epochs=4) for index in range(4)]
LOSSES = [result(i, 0.5, measured(i + 1.0, START), loss=(0.75, 0.5)[i]) for i in range(2)]


@pytest.fixture
def now(monkeypatch):
    """Set the time, in seconds since the search began."""

    def set_to(seconds):
        monkeypatch.setattr("automata.experiment.status.time.time", lambda: START + seconds)

    set_to(5)
    return set_to


@pytest.fixture
def folder(tmp_path, now):
    """The folder of a job of this process."""
    made = tmp_path / "work" / STEM
    made.mkdir(parents=True)
    sign(made)
    return made


def sign(folder, **changes):
    holder = {"host": platform.node(), "pid": os.getpid(), "since": BEGUN, **changes}
    (folder / "lock").write_text(Holder(**holder).model_dump_json())


def write(folder, *entries, of=None):
    path = folder / "search/log.jsonl"
    path.unlink(missing_ok=True)
    log = SearchLog(path)
    for entry in (LogHeader(job=of or job(), data_sha256="", environment={}), *entries):
        log.append(entry)
    return path


def progress(folder):
    """Return the progress of the running jobs."""
    return [text for _, text in running(folder.parents[3])]


@pytest.mark.parametrize(
    ("entries", "of", "seconds", "pattern"),
    [
        ([], job(), 5, "^starting, 0:00:15 so far$"),
        ([OPENED], job(), 5, "^first trial, 0:00:15 so far$"),
        ([], job("untuned"), 5, "^final training, 0:00:15 so far$"),
        (ENDED, job(), 5, "^final training, best accuracy 75.0 %, about 0:00:09 left, 0:00:15 so "),
        (ENDED, job("full"), 5, "^test, best accuracy 75.0 %, about 0:00:00 left, 0:00:15 so far$"),
        # 30 of 50 epochs took 4 s: 8/3 s for the others. The final training has 10 times the
        # samples of a trial's 1 s of training. One second has passed since.
        (
            HALF,
            job(),
            5,
            "^trial 3 of 5, epoch 10 of 10, best accuracy 75.0 %, about 0:00:12 left, ",
        ),
        # 40 epochs took 4 s and, after an interruption, 6 s: 2.5 s for the others; 1 s has passed.
        (RESUMED, job("full"), 107, "trial 4 of 5, .*about 0:00:02 left"),
        # ASHA's fifth trial costs what one of the four did: 2 s, of which one has passed.
        ([OPENED, *FOUR], job("full", "asha"), 9, "about 0:00:01 left"),
        # Three trials of 10 epochs in the first bracket, two that start in the second with 3, of
        # which two places go on to 9: 48 epochs, 10 of which took 2 s; 3 s have passed since.
        (
            [OPENED, result(0, 0.5, measured(2.0, START))],
            job("full", "hyperband"),
            5,
            "1 of 5, .*0:00:05 left",
        ),
        ([OPENED, *LOSSES], job("full", metric="log_loss"), 5, "best log loss 0.500, "),
    ],
)
def test_progress_and_time_left(folder, now, entries, of, seconds, pattern):
    write(folder, *entries, of=of)
    now(seconds)
    (text,) = progress(folder)
    assert re.search(pattern, text)


def test_the_final_training_shows_its_epoch_and_the_time_left(folder, now):
    path = write(folder, *ENDED)
    log = SearchLog(path.parents[1] / "final/log.jsonl")
    saved = TrialSaved(index=0, epoch=7, measurement=measured(6.0, START + 5))
    for entry in (SearchLog(path).entries[0], OPENED, saved):
        log.append(entry)
    now(12)
    (text,) = progress(folder)
    assert re.search(
        "^final training, epoch 7 of 10, best accuracy 75.0 %, about 0:00:03 left", text
    )


def test_resumed_job_has_the_time_left_of_its_interruption(folder, now):
    write(folder, *HALF, OPENED, of=job("full"))
    sign(folder, since=BEGUN + 1000)
    now(1000)
    assert progress(folder)[0].endswith("about 0:00:03 left, 0:00:10 so far")


def test_job_without_a_readable_log_is_starting(folder):
    starting = ["starting, or waiting for its turn, 0:00:15 so far"]
    assert progress(folder) == starting
    (folder / "log.jsonl").write_text(
        'e0deb0 {"kind": "header", "job": {"of": "another version"}}\n'
    )
    assert progress(folder) == starting


def test_incomplete_last_line_is_ignored_and_nothing_is_written(folder):
    log = write(folder, *HALF)
    complete = progress(folder)
    with log.open("ab") as file:
        file.write(b'0123456789abcdef {"kind": "end')
    before = [(path, path.stat().st_mtime_ns) for path in [folder, *folder.iterdir()]]
    assert progress(folder) == complete
    assert [(path, path.stat().st_mtime_ns) for path in [folder, *folder.iterdir()]] == before


def test_job_runs_while_a_live_process_holds_its_folder(folder, monkeypatch):
    write(folder, *HALF)
    monkeypatch.undo()  # the time of the lock is that of today
    with held(folder / "lock", "it"):
        assert len(progress(folder)) == 1
    assert progress(folder) == []


@pytest.mark.parametrize("changed", [".", "checkpoints"])
def test_job_of_another_host_counts_as_running_while_it_changes_files(folder, now, changed):
    write(folder, *HALF)
    (folder / "checkpoints").mkdir()
    sign(folder, host="node-7")
    os.utime(folder / changed, (BEGUN + 14, BEGUN + 14))
    assert progress(folder)[0].endswith("0:00:15 so far, on node-7, by its files of 0:00:01 ago")
    now(4 + SILENT_SECONDS)
    assert progress(folder) == []


def test_runs_are_counted_by_data_set_and_state(folder, tmp_path):
    grid = Grid(read_experiments([ROOT / "config/config.yaml", ROOT / "config/smoke.yaml"]), [])
    done, other = (place.stem for place in grid.runs)
    record = tmp_path / "runs" / done / "record.json"
    record.parent.mkdir(parents=True)
    record.touch()
    lines = report(grid, tmp_path / "runs", tmp_path / "work").splitlines()
    assert lines[1].split() == ["dna", "1", "0", "0", "1"]
    assert lines[2].startswith(f"{STEM} (of another configuration): starting")
    write(tmp_path / "work" / other, OPENED)
    lines = report(grid, tmp_path / "runs", tmp_path / "work").splitlines()
    assert lines[1].split() == ["dna", "1", "0", "1", "0"]
    sign(tmp_path / "work" / other)
    lines = report(grid, tmp_path / "runs", tmp_path / "work").splitlines()
    assert lines[1].split() == ["dna", "1", "1", "0", "0"]
