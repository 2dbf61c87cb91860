"""The cost of planning many runs."""
