"""Models. Each has `features(x)` and a last linear layer `head`: all that selection needs."""
