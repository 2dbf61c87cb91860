"""The user's own data: one module per kind, each with `load(name, own) -> RawSplits`."""
