"""Recorded learning curves: a table of what any search would see.

`grid` says which trainings there are, and where they are kept; `record` what is kept of some
configurations of the pool; `train` makes it. Searches are simulated on the table.
"""
