"""Benchmarks of the pipeline itself; each package in here is one command."""
