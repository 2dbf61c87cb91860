"""What a call of Snakemake says on its screen."""

import io
import logging

import pytest
from snakemake.common import NOTHING_TO_BE_DONE_MSG

from automata.failures import KEPT
from automata.screen import Screen, verdict

COMMAND = (
    "RuleException:\nCalledProcessError in file tune.smk, line 3:\n"
    "Command 'automata tune > {log} 2>&1' returned non-zero exit status {status}."
)

RAYS_OWN = """\
2026-11-23 15:10:53,578 automata.tuning.ray_session: Ray has 2 CPUs and 0 GPUs, after 6.2 s
*** SIGTERM received at time=1795446669 on cpu 1 ***
PC: @     0x7fe9512a3f16  (unknown)  (unknown)
"""


@pytest.fixture
def screen():
    """Give a logger, its screen as Snakemake has it, and what writes there."""
    logger = logging.Logger("snakemake", logging.INFO)
    handler = logging.StreamHandler(io.StringIO())
    handler.setFormatter(logging.Formatter("%(message)s | %(shellcmd)s", defaults={"shellcmd": ""}))
    logger.addHandler(handler)
    yield logger, handler.stream, Screen(logger)
    logging.raiseExceptions = True


def fail(logger, log, status, job=1):
    text = COMMAND.format(log=log, status=status)
    logger.error(text, extra={"event": "error", "exception": "RuleException"})
    told = {"event": "job_error", "jobid": job, "log": [str(log)], "shellcmd": "it", "input": ["a"]}
    logger.error("Error in rule tune", extra=told)


def test_line_of_each_failed_job_is_the_last(screen, tmp_path):
    logger, stream, listener = screen
    first, second = tmp_path / "a.log", tmp_path / "b.log"
    first.write_text("some progress\nautomata tune: error: data: none\nRay says good-bye\n")
    second.write_text("")
    fail(logger, first, 1)
    fail(logger, second, 7, job=2)
    listener.conclude()
    said = stream.getvalue().splitlines()
    assert said[-2] == f"automata tune: error: data: none (log: {first}) | "
    assert said[-1].startswith("automata: error: the job ended without a message (exit status 7)")
    assert said[-1].endswith(f"(log: {second}) | ")


CLOSING = ("Complete log(s): /x/.snakemake/log/y.log", "Elapsed time: 0:01:02")
"""What Snakemake says at the end of every call."""


def test_nothing_of_snakemakes_follows_why_a_job_failed(screen, tmp_path):
    logger, stream, listener = screen
    fail(logger, tmp_path / "a.log", 7)
    listener.conclude()
    for line in CLOSING:
        logger.info(line)
    assert stream.getvalue().strip().splitlines()[-1].startswith("automata: error: the job ended")


def test_snakemakes_last_lines_stay_where_there_is_nothing_else_to_say(screen):
    logger, stream, listener = screen
    listener.succeed()
    for line in CLOSING:
        logger.info(line)
    assert all(line in stream.getvalue() for line in CLOSING)


def test_job_that_was_done_at_another_attempt_is_not_told(screen, tmp_path):
    logger, stream, listener = screen
    fail(logger, tmp_path / "a.log", 1)
    logger.info("Finished", extra={"event": "job_finished", "job_id": 1})
    fail(logger, tmp_path / "b.log", 9, job=2)
    fail(logger, tmp_path / "b.log", 7, job=2)
    listener.conclude()
    assert "a.log" not in stream.getvalue()
    assert stream.getvalue().count("b.log") == 1
    assert "(exit status 7)" in stream.getvalue()


def test_neither_command_nor_inputs_are_on_the_screen(screen, tmp_path):
    logger, stream, _ = screen
    fail(logger, tmp_path / "a.log", 1)
    assert stream.getvalue().strip() == "Error in rule tune | None"


def test_a_record_that_never_was_is_not_said_to_be_lost(screen):
    logger, stream, _ = screen
    logger.warning("Cannot restore results/runs/x/record.json: no backup found.")
    logger.warning("Restored previous version of x (updating job failed).")
    assert "Cannot restore" not in stream.getvalue()
    assert "Restored previous version" in stream.getvalue()


def test_all_is_on_the_screen_when_that_is_asked_for(tmp_path):
    logger = logging.Logger("snakemake", logging.DEBUG)
    handler = logging.StreamHandler(io.StringIO())
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger.addHandler(handler)
    Screen(logger)
    logging.raiseExceptions = True
    fail(logger, tmp_path / "a.log", 1)
    assert "returned non-zero exit status 1" in handler.stream.getvalue()


def test_all_is_in_the_file(screen, tmp_path):
    logger, _, _ = screen
    file = logging.FileHandler(tmp_path / "all.log")
    logger.addHandler(file)
    Screen(logger)
    fail(logger, tmp_path / "a.log", 1)
    assert "returned non-zero exit status 1" in (tmp_path / "all.log").read_text()


def test_traceback_of_snakemake_is_its_last_line(screen):
    logger, stream, _ = screen
    text = "Traceback (most recent call last):\n\n  File x\n\nKeyError: 'y'\n"
    logger.error(text, extra={"event": "error", "exception": "KeyError"})
    assert stream.getvalue() == "snakemake: error: KeyError: 'y'\n"


def test_full_disk_of_snakemake_is_one_line(screen, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    logger, stream, _ = screen
    text = "Traceback (most recent call last):\n\nOSError: [Errno 28] No space left on device\n"
    logger.error(text, extra={"event": "error", "exception": "OSError"})
    assert stream.getvalue() == (
        f"snakemake: error: {tmp_path}: no space left on the device; make room and {KEPT}\n"
    )


def test_folder_that_is_read_only_is_one_line(screen):
    logger, stream, _ = screen
    text = "WorkflowError:\nFailed to create r.\nOSError: [Errno 30] Read-only file system: 'r'"
    logger.error(text, extra={"event": "error", "exception": "WorkflowError"})
    assert stream.getvalue() == (
        "snakemake: error: OSError: [Errno 30] Read-only file system: 'r'; "
        f"make it writable, or name another folder by --directory, and {KEPT}\n"
    )


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("automata: error: a\nautomata tune: error: b\nRay: c\n", "SIGKILL", "tune: error: b"),
        ("", "SIGKILL", "the job was killed (SIGKILL), most often for lack of memory; call again"),
        ("", "SIGTERM", "the job was ended (SIGTERM); call again"),
        (
            "2026 automata.tuning.job: waiting\n",
            "exit status 3",
            "without a message (exit status 3",
        ),
        (
            "Fatal Python error: Segmentation fault\n\nx\n",
            "SIGSEGV",
            "crashed (Segmentation fault)",
        ),
        ("", None, "without a message (exit status unknown)"),
        (RAYS_OWN, "exit status 1", f"error: the job was ended (SIGTERM); {KEPT}"),
    ],
)
def test_verdict(tmp_path, text, status, said):
    log = tmp_path / "job.log"
    log.write_text(text)
    assert said in verdict(log, status)


def test_what_is_kept_of_a_failed_job_is_not_told_after_why_it_failed(screen):
    logger, stream, _ = screen
    logger.warning("--keep-incomplete mode is set, so incomplete output files are not removed.")
    assert stream.getvalue().strip() == ""


def test_log_that_is_not_there_is_no_failure(tmp_path):
    assert "without a message" in verdict(tmp_path / "none.log", None)


@pytest.mark.parametrize(
    ("end", "how"),
    [
        ("returned non-zero exit status 137.", "SIGKILL"),
        ("died with <Signals.SIGKILL: 9>.", "SIGKILL"),
        ("returned non-zero exit status 255.", "exit status 255"),
    ],
)
def test_signal_behind_an_exit_status_is_named(screen, tmp_path, end, how):
    logger, stream, listener = screen
    log = tmp_path / "a.log"
    logger.error(f"Command '> {log}' {end}", extra={"event": "error", "exception": "RuleException"})
    logger.error("Error in rule", extra={"event": "job_error", "jobid": 1, "log": [str(log)]})
    listener.conclude()
    assert f"({how})" in stream.getvalue()


def make(tmp_path, *names):
    files = [tmp_path / name for name in ("best.yaml", "index.html")]
    for name in names:
        (tmp_path / name).touch()
    return [str(file) for file in files]


@pytest.mark.parametrize("said", [NOTHING_TO_BE_DONE_MSG, None])
def test_what_there_is_to_read_is_said_last(screen, tmp_path, said):
    logger, stream, listener = screen
    best, page = make(tmp_path, "best.yaml", "index.html")
    listener.answers = lambda: [best, page]
    logger.info(said) if said else listener.succeed()
    last = stream.getvalue().splitlines()[-1]
    assert last == f"The best hyper-parameters: {best}; how good they are: {page} | "


def test_command_for_predictions_ends_the_last_line(screen, tmp_path):
    _, stream, listener = screen
    listener.answers = lambda: make(tmp_path, "best.yaml", "index.html")
    listener.command = "automata predict results/t NEWROWS --output predictions.csv"
    listener.succeed()
    assert stream.getvalue().splitlines()[-1].endswith(f"; predictions: {listener.command} | ")


def test_what_is_not_there_or_not_asked_for_is_not_named(screen, tmp_path):
    _, stream, listener = screen
    listener.succeed()
    listener.answers = lambda: make(tmp_path, "index.html")
    listener.succeed()
    assert stream.getvalue() == ""
