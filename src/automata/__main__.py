"""`python -m automata`: the command line of `automata.cli`."""

import faulthandler
import os
import sys

from automata.cli import main
from automata.failures import Interrupt

if __name__ == "__main__":
    faulthandler.enable()  # says which line of a user's model called the native code that crashed
    Interrupt.install()
    main()
    # What is done is done: a signal while libraries are taken down, which lasts a second, would
    # make a failure of it, and Snakemake would remove the record.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
