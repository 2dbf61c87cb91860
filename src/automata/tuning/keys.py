"""Names of the values that trials report to Ray Tune."""

EPOCH = "epoch"
"""Epochs trained: the schedulers' unit of time."""

SCORE = "score"
"""Validation accuracy: what searches and schedulers maximise."""
