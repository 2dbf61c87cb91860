"""The paper's claims, each checked against the tables of an experiment.

`config/claims.yaml` quotes the claims. The `shape` of a claim says what it is checked for: a
condition holds in a share of the panels, or a figure over all panels passes a threshold.
"""

from automata.analysis.claims.table import claims_table, parse_claims, presented

__all__ = ["claims_table", "parse_claims", "presented"]
