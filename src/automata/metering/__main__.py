"""`python -m automata.metering -- COMMAND`: the same as `automata meter -- COMMAND`."""

import sys

from automata.cli import main

main(["meter", *sys.argv[1:]])
