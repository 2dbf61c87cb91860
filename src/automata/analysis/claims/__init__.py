"""The paper's claims, each checked against the tables of an experiment.

`config/claims.yaml` quotes them and says in numbers what each one is checked for; a kind of claim
is one class here, which reads those numbers, states its rule and gives the finding.
"""

from automata.analysis.claims.file import KINDS, read_claims
from automata.analysis.claims.finding import Finding
from automata.analysis.claims.table import claims_table, summary

__all__ = ["KINDS", "Finding", "claims_table", "read_claims", "summary"]
