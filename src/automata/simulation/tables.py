"""From recorded learning curves to all tables of simulated searches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from automata.analysis.tables import read_csv, read_json
from automata.config.base import Section
from automata.errors import UserError
from automata.simulation import TABLES, validation
from automata.simulation.asked import Simulated
from automata.simulation.decision import decision
from automata.simulation.published import ROW, published_curves, tabulated
from automata.simulation.record import read_curves
from automata.simulation.study import studies
from automata.simulation.table import complete, pools


class Simulation(Section):
    """What is simulated, and on which curves besides recorded ones."""

    published: list[Path]
    """Folders of published learning curves."""
    trainings: list[str]
    """Those of the published trainings that are taken."""
    searches: dict[str, Simulated]
    """What is simulated of each data set."""
    real: list[Path]
    """Folders of tables of real runs, which the simulated ones are held against."""


def joined(records: Iterable[Path], asked: Simulation) -> pd.DataFrame:
    """Return a row per evaluation of `records`, and of the published trainings."""
    tables = [published_curves(folder, asked.trainings) for folder in asked.published]
    table = pd.concat([*tables, tabulated(map(read_curves, records))]).drop_duplicates(ROW)
    if table.empty:
        raise UserError("learning_curves: there are none, and train is false")
    return table


def simulated(
    curves: pd.DataFrame, asked: Simulation, processes: int
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield name and content of each table of the searches that are simulated on `curves`."""
    recorded = complete(curves, asked.searches)
    found = studies(recorded, processes)
    held = [pd.DataFrame(columns=validation.HELD)]
    for folder in asked.real:
        runs, protocols = read_csv(folder / "runs.csv"), read_json(folder / "protocols.json")
        held.append(validation.against_real(found.methods, asked.searches, runs, protocols))
    contents = (
        found.methods,
        found.contrasts,
        decision(found.methods),
        found.chosen,
        pools(recorded),
        validation.rank_correlation(recorded),
        validation.noise(recorded),
        pd.concat(held),
    )
    yield from zip(TABLES, contents, strict=True)
