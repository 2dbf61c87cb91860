"""Trained models as files, and what they say of new rows.

`saved` writes and reads `model.safetensors`; `encoding` turns a user's new rows into what the model
takes, exactly as the training rows were; `predict` puts both together.
"""
