"""Configuration files before types: merging, checks that types cannot make, what a run reads.

The workflow plans with these, so they need nothing that Snakemake itself does not bring.
"""
