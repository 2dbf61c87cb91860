"""From raw rows to tensors: one module per kind of data."""
