"""Our epochs beside those of a usual training loop."""
