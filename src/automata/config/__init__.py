"""All configuration keys, with their meaning, unit, default and valid values.

`Experiment` is the whole configuration, `Job` the part that one tuning job reads. From them
`tools/texts.py` generates `config/schema.json` and the tables of `docs/configuration.md`.
"""
