"""Learning curves of a pool of configurations, and random searches that are simulated on them.

`grid` has the jobs and their records, `train` makes a record, and `curves` has all curves as rows
and arrays. `methods` has the ways of tuning: each is a function of `Comparison` that returns an
`Outcome`, and an entry of `Comparison.outcomes`. `tables` compares them, and `readers` and
`figures` show the tables.
"""

TABLES = ("simulated", "contrasts", "noise", "ranks", "validation")
"""Names of the tables, in the order in which `tables.simulated` makes them."""
