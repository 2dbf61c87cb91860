"""What the meter itself costs."""
