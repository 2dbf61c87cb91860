"""`python -m automata`: the command line of `automata.cli`."""

import gc

from automata.cli import main

if __name__ == "__main__":
    main()
    gc.freeze()  # or Python would look through all objects once more before it ends: a second
