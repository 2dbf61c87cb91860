"""The door between making and reading: the record of a run, with its path and archive."""
