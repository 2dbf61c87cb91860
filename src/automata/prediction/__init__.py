"""Trained models in files, and their predictions for new rows."""
