"""The paper's claims, each checked against the tables of an experiment.

`config/claims.yaml` quotes the claims and says what each is checked for. A claim has one of two
shapes: a condition holds in a share of the panels, or a figure over all panels passes a threshold.
"""

from automata.analysis.claims.table import claims_table, parse_claims, presented

__all__ = ["claims_table", "parse_claims", "presented"]
