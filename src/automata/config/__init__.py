"""Every configuration key: its meaning, unit, default and valid values, defined once.

`Experiment` is what the workflow reads of configuration files (`automata.config.files`), `Job` the
part of it that one tuning job reads. `config/schema.json`, for editors, and the tables of
`docs/configuration.md` are generated from `Experiment`.
"""

from automata.config.data import Preparation
from automata.config.experiment import Experiment, json_schema, write_schema
from automata.config.job import (
    Job,
    Run,
    Settings,
    parse_job,
    parse_preparation,
)
from automata.config.protocol import OwnModel, Protocol
from automata.config.sections import (
    Carbon,
    Comparison,
    SchedulerSettings,
    SearchSettings,
    parse_carbon,
    parse_comparison,
)
from automata.config.spaces import Domain

__all__ = [
    "Carbon",
    "Comparison",
    "Domain",
    "Experiment",
    "Job",
    "OwnModel",
    "Preparation",
    "Protocol",
    "Run",
    "SchedulerSettings",
    "SearchSettings",
    "Settings",
    "json_schema",
    "parse_carbon",
    "parse_comparison",
    "parse_job",
    "parse_preparation",
    "write_schema",
]
