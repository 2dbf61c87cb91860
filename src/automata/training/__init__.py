"""Training on subsets, evaluation, and the progress of a run."""
