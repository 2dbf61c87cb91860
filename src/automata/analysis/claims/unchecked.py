"""Claims that the tables of one experiment cannot decide."""

from __future__ import annotations

from automata.analysis.claims.claim import Claim, Text
from automata.analysis.claims.finding import Finding, not_run
from automata.analysis.study import Study


class UncheckedClaim(Claim):
    """A claim that is here so that nobody takes it for checked; `needs` says what it would take."""

    needs: Text

    @property
    def rule(self) -> str:
        """Say that there is none."""
        return "not checked here"

    def check(self, tables: Study) -> Finding:
        """Return what a check would need; `tables` are not looked at."""
        return not_run(f"needs {self.needs}")
