"""Our epochs and steps beside those of a training loop as most people write it."""
