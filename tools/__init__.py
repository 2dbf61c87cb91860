"""Tools for developers: `same.py` and `texts.py`."""
