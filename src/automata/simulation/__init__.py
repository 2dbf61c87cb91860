"""Learning curves of a pool of configurations, and random searches that are simulated on them.

`grid` has the jobs and their records, `train` makes a record, `curves` has all curves as rows and
arrays. `methods` are the ways of tuning, which `tables` compares; `readers` and `figures` show it.
"""

TABLES = ("simulated", "contrasts", "noise", "validation")
"""Names of the tables, in the order in which `tables.simulated` makes them."""
