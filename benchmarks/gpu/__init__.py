"""Checks and times of a GPU: `make gpu`."""
