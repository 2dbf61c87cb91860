"""What makes an experiment; so far, the search that `automata new` and `automata.tune` recommend."""
