"""Every configuration key: its meaning, unit, default and valid values, defined once.

`experiment` is what the workflow reads of configuration files (`files`), `job` the part of it that
one tuning job reads. `config/schema.json`, for editors, and the tables of `docs/configuration.md`
are generated from `Experiment`.
"""
