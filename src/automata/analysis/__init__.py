"""Tables from records; each reported quantity is defined once."""
