"""What an experiment is made of; so far, the search that `automata new` and `tune` recommend."""
