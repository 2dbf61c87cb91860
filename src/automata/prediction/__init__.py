"""Trained models as files, and their predictions for new rows."""
