"""`python -m automata`: the command line of `automata.cli`."""

from automata.cli import main

if __name__ == "__main__":
    main()
