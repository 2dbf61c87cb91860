"""The search that `automata new` and `automata.tune` recommend."""
