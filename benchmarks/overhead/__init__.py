"""One tuning job by its parts: what Ray Tune, imports and data cost."""
