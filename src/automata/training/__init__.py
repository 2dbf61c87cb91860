"""Training with subsets, evaluation, and the account of what was done."""
