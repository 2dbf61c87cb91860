"""Reproducibility pipeline for AUTOMATA: subset selection for compute-efficient tuning."""

__version__ = "0.1.0"
