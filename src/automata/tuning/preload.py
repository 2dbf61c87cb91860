"""Imports of a starting Ray worker; they take a quarter less time without garbage collection."""

import gc

gc.disable()
import automata.tuning.trainable  # noqa: E402, F401

gc.enable()
