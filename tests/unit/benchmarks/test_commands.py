"""The cost of a command is its own, not that of who starts it."""

import sys

import pytest

from benchmarks.commands import Cost, measured


def cost_of(code: str, folder) -> Cost:
    return measured([sys.executable, "-c", code], folder / "printed.txt")


def test_memory_is_that_of_the_command(tmp_path):
    held = bytearray(300 * 2**20)  # of this process
    small = cost_of("pass", tmp_path)
    large = cost_of("held = bytearray(200 * 2**20)", tmp_path)
    assert len(held) > 0
    assert small.peak_mib < 150
    assert 195 < large.peak_mib - small.peak_mib < 215


def test_processes_of_the_command_count(tmp_path):
    burn = "import time\nwhile time.process_time() < 0.5: pass"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}])"
    cost = cost_of(code, tmp_path)
    assert cost.cpu_seconds >= 0.5
    assert cost.wall_seconds > 0


def test_failure_ends_with_what_was_printed(tmp_path):
    with pytest.raises(RuntimeError, match="it went wrong"):
        cost_of("raise SystemExit('it went wrong')", tmp_path)


def test_what_is_printed_is_kept(tmp_path):
    cost_of("print('hello')", tmp_path)
    assert (tmp_path / "printed.txt").read_text() == "hello\n"
