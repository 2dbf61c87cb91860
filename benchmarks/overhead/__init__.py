"""The cost of Ray Tune: one tuning job by its parts, beside the same trials in a plain loop."""
