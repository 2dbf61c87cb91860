"""Data sets: the catalog, their files, and their prepared form."""
