"""`python -m benchmarks.metering`: CPU time of the meter around a process tree that sleeps."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from automata.metering.meter import Meter
from benchmarks.report import Row, write_table

RESULTS = Path(__file__).parent / "results"
SAMPLE_SECONDS = 5.0
PACKAGES = ("pyJoules", "codecarbon", "psutil")


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.metering", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="of each window")
    parser.add_argument("--processes", type=int, nargs="+", default=[0, 10])
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the table")
    options = parser.parse_args()
    rows = [_row(count, options.seconds) for count in options.processes]
    title = "CPU time of the meter while nothing else works"
    write_table(rows, options.results, "metering", title=title, threads=1, packages=PACKAGES)


def _row(processes: int, seconds: float) -> Row:
    """Return the cost of a window over `processes` children; a local Ray has about ten."""
    sleep = [sys.executable, "-c", f"import time; time.sleep({seconds + 60})"]
    children = [subprocess.Popen(sleep) for _ in range(processes)]
    time.sleep(2.0)  # they have started
    meter = Meter(sample_seconds=SAMPLE_SECONDS, gpus=(), exclusive=False)
    meter.prepare()
    start = time.process_time()
    with meter:
        time.sleep(seconds)
    used = time.process_time() - start
    for child in children:
        child.kill()
        child.wait()
    return {
        "processes": processes,
        "window s": seconds,
        "CPU s": used,
        "share of a core": used / seconds,
        "sources": meter.measurement.energy_source or "none",
    }


if __name__ == "__main__":
    main()
