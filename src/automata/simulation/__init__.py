"""Learning curves of a pool of configurations, and random searches that are simulated on them.

`grid` has the jobs and their records, `train` makes a record, `published` tabulates records.
`table` has the curves as arrays, `methods` are the ways of tuning, `study` compares them on the
same searches. `tables` makes all tables; `readers` and `figures` show them.
"""

TABLES = ("simulated", "contrasts", "noise", "validation")
"""Names of the tables, in the order in which `tables.simulated` makes them."""
