"""Models. Each has `features(x)` and a last linear layer `head`: all that selection needs."""

MODELS: dict[str, str] = {"mlp": "automata.models.mlp:build"}
"""Model name -> "module:factory", imported when a model is built."""
