"""The paper's claims, each checked against the tables of an experiment.

`config/claims.yaml` quotes them and says in numbers what each one is checked for. A kind of claim
is a class, which reads those numbers, states its rule and gives the finding. Most have one of two
shapes: something holds in a share of the panels (`by_panel`), or a mean over runs is beyond a bar
(`by_mean`). A new kind is such a class and a line in `table.KINDS`.
"""

from automata.analysis.claims.finding import Finding
from automata.analysis.claims.table import KINDS, claims_table, parse_claims, presented, summary

__all__ = ["KINDS", "Finding", "claims_table", "parse_claims", "presented", "summary"]
