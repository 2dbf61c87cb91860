"""Training on subsets, evaluation, and simple models to compare with."""
