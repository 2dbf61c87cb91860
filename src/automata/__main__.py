"""`python -m automata`: the command line of `automata.cli`."""

import faulthandler
import gc

from automata.cli import main
from automata.failures import Interrupt

if __name__ == "__main__":
    faulthandler.enable()  # says which line of a user's model called the native code that crashed
    Interrupt.install()
    main()
    gc.freeze()  # or Python would look through all objects once more before it ends: a second
