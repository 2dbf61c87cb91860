"""The command line: `automata`, or `python -m automata`."""

import faulthandler
import os
import sys

from automata.cli import main
from automata.errors import handle_interrupts


def run() -> None:
    """Run a command, and end the process."""
    faulthandler.enable(2)  # if native code crashes, print the Python line that called it
    handle_interrupts()
    main()
    # Libraries take a second to shut down. A signal would then make a finished command fail,
    # and Snakemake would remove its output.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    run()
