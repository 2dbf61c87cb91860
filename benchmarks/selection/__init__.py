"""Solvers and whole selections: seconds and objectives beside other implementations."""
