"""Searches simulated on recorded learning curves: thousands, in seconds.

`table` has the curves as arrays; `schedulers` says what early stopping makes of them, for many
searches at once; `methods` are the ways of tuning that are compared; `study` draws searches,
compares methods on the same draws, and says how sure the differences are.
"""
