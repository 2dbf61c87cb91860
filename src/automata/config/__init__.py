"""All configuration keys: meaning, unit, default and valid values, each stated once.

`Experiment` is the whole configuration, `Job` the part that one tuning job reads. The tool
`tools/texts.py` makes `config/schema.json` and the tables of `docs/configuration.md` from them.
"""
