"""Learning curves of a pool of configurations, and random searches that are simulated on them.

A new way of tuning is an entry of `methods.Comparison.outcomes`.
"""

TABLES = ("simulated", "contrasts", "noise", "ranks", "validation")
"""Names of the tables, in the order in which `tables.simulated` makes them."""
