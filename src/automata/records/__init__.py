"""The door between making and reading: the record of a run, its parts, path and archive."""
