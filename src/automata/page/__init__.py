"""One page per experiment, for readers with nothing but a browser."""
