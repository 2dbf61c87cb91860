"""Searches simulated on recorded learning curves, thousands at a time.

`table` has the curves as arrays. `schedulers` says what early stopping makes of them, `tpe` what is
proposed, for many searches at once. `methods` are the ways of tuning that are compared; `study`
draws searches, compares methods on the same draws, and says how sure the differences are.
`decision` is the rule by which one is recommended, `validation` holds simulated searches against
real ones.
"""

TABLES = (
    *("simulated", "contrasts", "decision", "chosen"),
    *("pool", "rank-correlation", "noise", "validation"),
)
"""Names of the tables, in the order in which `tables.simulated` makes them."""
