"""The progress of jobs, read from folders as jobs leave them."""

import os
import platform
from pathlib import Path

import pytest

from automata.config.files import read_experiments
from automata.config.job import Job
from automata.grid import Grid
from automata.locks import Holder, held
from automata.metering.measurement import Measurement
from automata.status import SILENT_SECONDS, report, running
from automata.training.progress import Evaluation, Progress, Seconds
from automata.tuning.log import LogHeader, SearchEnded, SearchLog, SearchStarted, TrialReported

CONFIG = Path(__file__).parents[2] / "config"
STEM = "dna/random-none-0123abcd/gradmatch-0.1/seed-0"
BEGUN = 4e9
"""Start of the job, later than that of any process today; its search starts 10 s later."""
SPACE = {"learning_rate": {"uniform": [0.001, 0.01]}}


def job(selector="gradmatch", fraction=0.1, scheduler="none", **changed):
    """Five trials of ten epochs."""
    run = {"dataset": "dna", "search": "random", "scheduler": scheduler, "selector": selector}
    protocol = {"model": "mlp", "configurations": 5, "epochs": 10, "reselect_every": 2}
    settings = {"protocol": {**protocol, "search_space": SPACE, **changed}}
    return Job.model_validate(
        {"run": {**run, "fraction": fraction, "seed": 0}, "settings": settings}
    )


def measured(wall, start=BEGUN + 10):
    counted = {"cpu_seconds": wall, "host_busy_cpu_seconds": wall, "exclusive": True}
    return Measurement(started_at=start, wall_seconds=wall, channels=[], notes=[], **counted)


def result(index, accuracy, measurement, epochs=10, loss=None):
    """A trial on 10 of 100 rows, at 0.1 s an epoch; with a `loss`, it is compared by that."""
    scores = {"accuracy": accuracy, "loss": loss or 0.1}
    progress = Progress(
        epochs=epochs,
        samples=10 * epochs,
        subset_samples=10,
        seconds=Seconds(training=0.1 * epochs),
        evaluations=[Evaluation(epoch=epochs, **scores, finished_at=0.0)],
        metric="log_loss" if loss else "accuracy",
    )
    return TrialReported(index=index, configuration={}, progress=progress, measurement=measurement)


OPENED = SearchStarted(host="here", setup_seconds=1.0, provenance={})
HALF = [OPENED, result(0, 0.5, measured(1.0)), result(1, 0.75, None), result(2, 0.7, measured(4.0))]


@pytest.fixture
def now(monkeypatch):
    """Set what time it is, in seconds since the search began."""

    def set_to(seconds):
        monkeypatch.setattr("automata.status.time.time", lambda: BEGUN + 10 + seconds)

    set_to(5)
    return set_to


@pytest.fixture
def folder(tmp_path, now):
    """The folder of a job of this process."""
    made = tmp_path / "work" / STEM
    made.mkdir(parents=True)
    sign(made)
    return made


def sign(folder, **other):
    who = {"host": platform.node(), "pid": os.getpid(), "since": BEGUN, **other}
    (folder / "lock").write_text(Holder(**who).model_dump_json())


def write(folder, *entries, of=None):
    log = SearchLog(folder / "log.jsonl")
    log.cut(0, "")
    for entry in (LogHeader(job=of or job(), data_sha256="", environment={}), *entries):
        log.append(entry)
    return folder / "log.jsonl"


def progress(folder):
    """Return the progress of the running jobs."""
    return [text for _, text in running(folder.parents[3])]


def test_search_at_work(folder):
    write(folder, *HALF)

    # 30 of 50 epochs took 4 s: 8/3 s for the others. The final training has 10 times the samples
    # of a trial's 1 s of training. One second has passed since.
    assert progress(folder) == [
        "trial 3 of 5, epoch 10 of 10, best score 75.0 %, about 0:00:12 left, 0:00:15 so far"
    ]


def test_time_left_of_full_has_no_final_training(folder):
    write(folder, *HALF, of=job("full", 1.0))

    assert "about 0:00:02 left" in progress(folder)[0]


def test_asha_is_taken_to_stop_trials_as_it_did(folder, now):
    first = [result(index, 0.5, measured(8.0), epochs=4) for index in range(4)]
    write(folder, OPENED, *first, of=job("full", 1.0, "asha"))
    now(9)

    # The fifth trial costs what one of the four did: 2 s, of which one has passed.
    assert "about 0:00:01 left" in progress(folder)[0]


def test_all_screens_and_finalists_count(folder):
    write(folder, *HALF, of=job(horizon_exponent=[0, 0.5], finalists=2))

    # 30 of 100 epochs took 4 s. Four finalists train to 2 epochs, two to 5 and one to 10: 19 epochs
    # of 1 s. One second has passed since.
    assert "trial 3 of 10" in progress(folder)[0]
    assert "about 0:00:27 left" in progress(folder)[0]


def test_hyperband_trains_what_its_brackets_do(folder):
    write(folder, OPENED, result(0, 0.5, measured(2.0)), of=job("full", 1.0, "hyperband"))

    # Three trials of 10 epochs in the first bracket, two that start in the second with 3, of which
    # two places go on to 9: 48 epochs, 10 of which took 2 s; 3 s have passed since.
    assert "trial 1 of 5" in progress(folder)[0]
    assert "about 0:00:05 left" in progress(folder)[0]


@pytest.mark.parametrize(
    ("scheduler", "epochs", "left"),
    [
        # Five trials of 3 epochs, of which two go on to 9: 27 epochs. 3 took 3 s, 2 s have passed.
        ("sha", 3, "0:00:22"),
        # One epoch each, then three trials to 2, two to 5 and one to 10: 5 + 3 + 6 + 5 epochs. One
        # took 1 s, 4 s have passed.
        ("one-epoch", 1, "0:00:14"),
    ],
)
def test_halving_trains_fewer_epochs_than_all_trials_to_the_end(folder, scheduler, epochs, left):
    first = result(0, 0.5, measured(float(epochs)), epochs=epochs)
    write(folder, OPENED, first, of=job("full", 1.0, scheduler))

    assert f"about {left} left" in progress(folder)[0]


def test_score_of_the_log_loss_is_shown_as_a_loss(folder):
    losses = [result(i, 0.5, measured(i + 1.0), loss=(0.75, 0.5)[i]) for i in range(2)]
    write(folder, OPENED, *losses, of=job("full", 1.0, metric="log_loss"))

    assert "best log loss 0.500, " in progress(folder)[0]


def test_time_of_an_interruption_does_not_count(folder, now):
    again = [OPENED, result(3, 0.6, measured(6.0, start=BEGUN + 110))]
    write(folder, *HALF, *again, of=job("full", 1.0))
    now(107)

    # 40 epochs took 4 s and 6 s: 2.5 s for the others; one second has passed since.
    assert "trial 4 of 5" in progress(folder)[0]
    assert "about 0:00:02 left" in progress(folder)[0]


@pytest.mark.parametrize("opened", [[], [OPENED]])
def test_resumed_job_has_the_time_left_of_its_interruption(folder, now, opened):
    write(folder, *HALF, *opened, of=job("full", 1.0))
    sign(folder, since=BEGUN + 1000)
    now(1000)

    assert progress(folder)[0].endswith("about 0:00:03 left, 0:00:10 so far")


@pytest.mark.parametrize(
    ("entries", "of", "said"),
    [
        ([], None, "starting, 0:00:15 so far"),
        ([OPENED], None, "first trial, 0:00:15 so far"),
        ([], job("untuned", 0.0), "final training, 0:00:15 so far"),
        (
            [*HALF, SearchEnded(measurement=measured(4.0), peak_disk_bytes=0)],
            None,
            "final training, best score 75.0 %, about 0:00:09 left, 0:00:15 so far",
        ),
        (
            [*HALF, SearchEnded(measurement=measured(4.0), peak_disk_bytes=0)],
            job("full", 1.0),
            "test, best score 75.0 %, about 0:00:00 left, 0:00:15 so far",
        ),
    ],
)
def test_other_parts_of_a_job(folder, entries, of, said):
    write(folder, *entries, of=of)

    assert progress(folder) == [said]


def test_job_without_a_log_waits(folder):
    assert progress(folder) == ["starting, or waiting for its turn, 0:00:15 so far"]


def test_incomplete_last_line_is_ignored(folder):
    log = write(folder, *HALF)
    complete = progress(folder)
    with log.open("ab") as file:
        file.write(b'0123456789abcdef {"kind": "end')
    before = (log.read_bytes(), log.stat().st_mtime_ns, sorted(folder.iterdir()))

    assert progress(folder) == complete
    assert (log.read_bytes(), log.stat().st_mtime_ns, sorted(folder.iterdir())) == before


def test_log_of_another_version_is_no_error(folder):
    body = b'{"kind": "header", "job": {"colour": "red"}}'
    (folder / "log.jsonl").write_bytes(b"e0deb0c0a0c0ffee " + body + b"\n")

    assert progress(folder) == ["starting, or waiting for its turn, 0:00:15 so far"]


def test_job_is_at_work_while_it_holds_its_folder(folder, monkeypatch):
    write(folder, *HALF)
    monkeypatch.undo()  # the time of the lock is that of today
    with held(folder / "lock", "it"):
        assert len(progress(folder)) == 1
    assert progress(folder) == []


def test_lock_file_with_other_text_is_of_no_job(folder):
    (folder / "lock").write_text("nobody")

    assert progress(folder) == []


def test_killed_job_is_not_running(folder):
    write(folder, *HALF)
    sign(folder, pid=2**22 + 1)  # more than Linux has

    assert progress(folder) == []


@pytest.mark.parametrize("changed", [".", "log.jsonl", "checkpoints"])
def test_job_of_another_host_counts_as_running_while_it_changes_files(folder, now, changed):
    write(folder, *HALF)
    (folder / "checkpoints").mkdir()
    sign(folder, host="node-7")
    os.utime(folder / changed, (BEGUN + 14, BEGUN + 14))

    assert progress(folder)[0].endswith("0:00:15 so far, on node-7, by its files of 0:00:01 ago")
    now(4 + SILENT_SECONDS)
    assert progress(folder) == []


def test_runs_are_counted_by_data_set(folder, tmp_path):
    grid = Grid(read_experiments([CONFIG / "config.yaml", CONFIG / "smoke.yaml"]), [])
    done, other = (place.stem for place in grid.runs)
    record = tmp_path / "runs" / done / "record.json"
    record.parent.mkdir(parents=True)
    record.touch()
    text = report(grid, tmp_path / "runs", tmp_path / "work").splitlines()

    assert [line.split() for line in text[1:2]] == [["dna", "1", "0", "1"]]
    assert text[2].startswith(f"{STEM} (of another configuration): starting")

    (tmp_path / "work" / other).mkdir(parents=True)
    sign(tmp_path / "work" / other)
    text = report(grid, tmp_path / "runs", tmp_path / "work").splitlines()
    assert [line.split() for line in text[1:2]] == [["dna", "1", "1", "0"]]
