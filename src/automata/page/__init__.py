"""One page per experiment, for readers who have a browser and nothing else."""
