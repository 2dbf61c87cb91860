"""Data sets: what they are (`catalog`), where they come from, and their prepared form."""
