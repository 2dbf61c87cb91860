"""Whole searches, start to end, beside a plain Optuna script."""
