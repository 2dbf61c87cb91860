"""The searches of an experiment that are simulated on learning curves."""

from __future__ import annotations

from automata.config.base import Count, Section
from automata.config.experiment import Experiment
from automata.config.sections import LearningCurves, SchedulerSettings, SearchSettings
from automata.config.spaces import Domain
from automata.registry import SCHEDULERS, SEARCHES
from automata.simulation.record import POOL_SEED


class Simulated(Section):
    """The searches that are simulated on the learning curves of a data set."""

    pool: Count
    """Number of configurations that have curves."""
    pool_seed: int
    """Seed of the random search that proposes them."""
    configurations: Count
    """Trials of a search."""
    epochs: Count
    """T."""
    searches: list[str]
    """Search algorithms that share the search space of random search."""
    schedulers: list[str]
    search: SearchSettings
    scheduler: SchedulerSettings
    space: dict[str, Domain]


def simulated_searches(part: Experiment, curves: LearningCurves, dataset: str) -> Simulated:
    """Return the searches of a part that can be simulated on the curves of a data set."""
    protocol = part.protocol_of(dataset)
    random = protocol.under("random")
    return Simulated(
        pool=curves.pool,
        pool_seed=POOL_SEED,
        configurations=random.configurations,
        epochs=random.epochs,
        searches=[
            name
            for name in part.searches
            if name in SEARCHES and protocol.under(name).search_space == random.search_space
        ],
        schedulers=[
            name for name in part.schedulers if name in SCHEDULERS and not SCHEDULERS[name].all_data
        ],
        search=part.search,
        scheduler=part.scheduler,
        space=random.search_space,
    )
