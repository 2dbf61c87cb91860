"""What Ray Tune costs: one tuning job, split by cause, beside the same trials in a plain loop."""
