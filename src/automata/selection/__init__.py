"""Subset selection: the solvers (usable alone) and the selectors of the tuning loop."""
