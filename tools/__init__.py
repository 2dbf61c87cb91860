"""Proofs that two versions of the project do the same."""
