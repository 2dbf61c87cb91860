"""Any command, metered: what this machine can measure, and why not where it cannot."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from automata.errors import UserError
from automata.metering.gpus import gpu_models, visible_gpus
from automata.metering.lock import exclusive_host
from automata.metering.measurement import Measurement
from automata.metering.meter import Meter
from automata.provenance import provenance
from automata.recorded import Recorded

SAMPLE_SECONDS = 5.0


class CommandRecord(Recorded):
    """One metered command."""

    command: list[str]
    exit_status: int
    """Negative: the signal that ended the command."""
    lock_wait_seconds: float
    measurement: Measurement
    gpus: list[str]
    """All that are installed; the measurement has those that the command may use."""
    provenance: dict[str, Any]


def meter_command(command: Sequence[str], exclusive: bool) -> CommandRecord:
    """Run `command` in a window of its own and return its record.

    With `exclusive` it first waits until no measured job runs on this host. Ctrl-C reaches the
    command, not the meter. Raises UserError when the command cannot be started.
    """
    with exclusive_host(exclusive) as waited:
        meter = Meter(sample_seconds=SAMPLE_SECONDS, gpus=visible_gpus(), exclusive=exclusive)
        meter.prepare()
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            with meter:
                process = _start(command)
                # Not reaped yet: the kernel still knows its CPU time when the window closes.
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            status = process.wait()
        finally:
            signal.signal(signal.SIGINT, before)
    return CommandRecord(
        command=list(command),
        exit_status=status,
        lock_wait_seconds=waited,
        measurement=meter.measurement,
        gpus=gpu_models(meter.measurement.notes),
        provenance=provenance("full"),
    )


def summary(measurement: Measurement) -> str:
    """Return the energy in one line, with how it was had."""
    joules, method = measurement.energy_joules, measurement.energy_method
    if joules is None:
        return "energy: unknown (see the notes)"
    how = f"{method.upper()} from {measurement.energy_source}" if method else ""
    flagged = f"; {', '.join(measurement.flags)}" if measurement.flags else ""
    return (
        f"energy: {joules:.4g} J in {measurement.wall_seconds:.4g} s, {how}; "
        f"{measurement.cpu_seconds:.4g} CPU s{flagged}"
    )


def _start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
        )
    except OSError as error:
        raise UserError(f"{command[0]}: {error.strerror}") from error


def report(record: CommandRecord) -> None:
    """Print the record on standard output, as JSON, and its summary on standard error."""
    print(record.model_dump_json(indent=2))  # noqa: T201
    print(summary(record.measurement), file=sys.stderr)  # noqa: T201
