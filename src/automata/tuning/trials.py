"""Trials that Ray Tune starts with as little ado as it can."""

from __future__ import annotations

from typing import Any

from ray.tune import PlacementGroupFactory
from ray.tune.experiment import Trial
from ray.tune.search import Searcher, SearchGenerator

from automata.tuning.schedulers import TuningScheduler
from automata.tuning.search import PatientSearch


class LeanTrial(Trial):
    """A trial that costs Ray no calls but those that train it.

    The methods are Ray's own, and do what they do there less what nobody asks for here.
    """

    def __init__(self, trainable_name: str, **rest: Any) -> None:
        """Take the trainable's name as it is: Ray looks it up in its store for each trial."""
        super().__init__(trainable_name, stub=True, **rest)
        self.stub = False

    def create_placement_group_factory(self) -> None:
        """Take the resources given: Ray fetches the trainable from its store, to ask that."""
        self.placement_group_factory = self._default_placement_group_factory

    def set_ray_actor(self, ray_actor: Any) -> None:
        """Note the actor: Ray asks it for host and process, twice per start."""
        self.temporary_state.ray_actor = ray_actor


class EarlyTrials(SearchGenerator):
    """Makes the next trial while others train, and hands it out when a slot is free.

    Making one takes milliseconds that a free slot would wait for. A trial that Ray has and
    cannot start would cost as much: Ray asks for a placement group and takes that back.
    """

    def __init__(
        self,
        search: PatientSearch,
        scheduler: TuningScheduler,
        slots: int,
        resources: PlacementGroupFactory,
    ) -> None:
        super().__init__(search)
        self._scheduler = scheduler
        self._slots = slots
        self._resources = resources
        self._next: Trial | None = None
        self._begun = 0
        self._ended = 0

    def next_trial(self) -> Trial | None:
        """Return a trial if there is one and a slot for it."""
        self._next = self._next or super().next_trial()
        at_work = self._begun - self._ended - self._scheduler.waiting()
        if self._next is None or at_work >= self._slots:
            return None
        trial, self._next = self._next, None
        self._begun += 1
        return trial

    def create_trial_if_possible(self, experiment_spec: dict[str, Any]) -> Trial | None:
        """Return a trial of the next proposal, None while there is none."""
        trial_id = Trial.generate_id()
        proposal = self.searcher.suggest(trial_id)
        if proposal == Searcher.FINISHED:
            self.set_finished()
        if not isinstance(proposal, dict):
            return None
        return LeanTrial(
            experiment_spec["run"],
            config=proposal,
            trial_id=trial_id,
            experiment_tag=str(proposal["index"]),
            storage=experiment_spec["storage"],
            checkpoint_config=experiment_spec["checkpoint_config"],
            placement_group_factory=self._resources,
        )

    def on_trial_complete(
        self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False
    ) -> None:
        """Count the trial, and tell the search."""
        self._ended += 1
        super().on_trial_complete(trial_id, result, error)
