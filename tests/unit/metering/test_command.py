"""`automata meter`: any command in a window of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pynvml
import pytest

from automata.errors import UserError
from automata.metering.command import CommandRecord, meter_command, summary

BURN = "import time\nwhile time.process_time() < 1.5: sum(range(1000))"


def run(*arguments: str, **rest: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "automata", "meter", *arguments]
    return subprocess.run(command, capture_output=True, text=True, **rest)


def test_cpu_time_of_the_command_counts_up_to_its_end() -> None:
    # Shorter than the time between two looks at the processes.
    record = meter_command([sys.executable, "-c", BURN.replace("1.5", "0.3")], exclusive=False)
    assert record.exit_status == 0
    assert record.measurement.cpu_seconds >= 0.25  # in ticks of the kernel
    assert record.measurement.wall_seconds >= 0.3


def test_record_is_printed_as_json_and_its_summary_beside_it() -> None:
    done = run("--shared", "--", sys.executable, "-c", "")
    record = CommandRecord.model_validate(json.loads(done.stdout))
    assert record.command == [sys.executable, "-c", ""]
    assert record.provenance["packages"]["codecarbon"]
    assert done.stderr.splitlines()[-1] == summary(record.measurement)
    if record.measurement.energy_method == "estimated":
        assert "ESTIMATED" in done.stderr


def test_record_says_why_no_gpu_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_driver() -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

    monkeypatch.setattr(pynvml, "nvmlInit", no_driver)
    record = meter_command(["true"], exclusive=False)
    assert any(note.startswith("NVML: ") for note in record.measurement.notes)


@pytest.mark.parametrize(("code", "status"), [("exit 3", 3), ("kill -9 $$", 137)])
def test_status_is_that_of_the_command(code: str, status: int) -> None:
    assert run("--shared", "--", "sh", "-c", code).returncode == status


def test_command_that_does_not_exist_is_one_line() -> None:
    with pytest.raises(UserError, match=r"^no-such-command: No such file or directory$"):
        meter_command(["no-such-command"], exclusive=False)


def test_both_entries_are_the_same() -> None:
    command = [sys.executable, "-m", "automata.metering", "--shared", "--", "true"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["command"] == ["true"]


def test_ctrl_c_ends_the_command_and_leaves_a_record(tmp_path: Path) -> None:
    started = tmp_path / "started"
    code = f"open({str(started)!r}, 'w'); import time; time.sleep(60)"
    process = subprocess.Popen(
        [sys.executable, "-m", "automata", "meter", "--shared", "--", sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    while not started.exists():
        time.sleep(0.05)
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    assert json.loads(output)["exit_status"] in (-signal.SIGINT, 1)
    assert process.returncode != 0


def test_real_counters_move_by_what_a_processor_can_draw() -> None:
    record = meter_command([sys.executable, "-c", BURN.replace("1.5", "5")], exclusive=False)
    measurement = record.measurement
    if measurement.energy_method != "measured":
        pytest.skip(f"no counter can be read here: {'; '.join(measurement.notes)}")
    assert measurement.energy_joules is not None
    watts = measurement.energy_joules / measurement.wall_seconds
    assert 1 < watts < 2000
