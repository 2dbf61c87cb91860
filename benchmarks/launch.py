"""`python launch.py PRINTED COMMAND ...`: run a command, and print what it cost as JSON.

A process of its own, as Linux counts the memory of who starts a command to the command's peak:
this one is small, who makes records is not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path


def main() -> None:
    """Leave what the command prints in the file PRINTED; exit as it does."""
    printed, *command = sys.argv[1:]
    start = time.perf_counter()
    with Path(printed).open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    print(json.dumps([wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]))
    sys.exit(process.returncode)


if __name__ == "__main__":
    main()
