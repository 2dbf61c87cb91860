"""Private parts of Ray that save time; without them a job has the same record, only later.

Each is optional: what a version of Ray lacks is passed over with a debug line. The seconds were
measured with Ray 2.60 on two cores.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pkgutil import resolve_name
from typing import Any

import ray
from ray.tune.experiment import Trial

logger = logging.getLogger(__name__)


def _nothing(*_: object, **__: object) -> None:
    """Start nothing."""


def _store_actor(trial: Any, actor: Any) -> None:
    """Store the actor of a trial, without asking it for its host and process."""
    trial.temporary_state.ray_actor = actor


REPLACED: tuple[tuple[str, str, object], ...] = (
    # Without environment variables of its own, a trial takes a worker that is there: 3 s.
    ("ray.tune.execution.class_cache", "DEFAULT_ENV_VARS", {}),
    # 0.2 s for each start of a trial.
    ("ray.tune.experiment.Trial", "set_ray_actor", _store_actor),
    # No autoscaler and no dashboard, which `ray.init` cannot disable: 1.5 s.
    ("ray._private.node.Node", "start_monitor", _nothing),
    ("ray._private.node.Node", "start_api_server", _nothing),
)
"""Owner, name and new value of what is replaced while a job trains."""


@contextmanager
def accelerated() -> Iterator[None]:
    """Replace the parts of Ray during the body."""
    with ExitStack() as stack:
        for place, name, value in REPLACED:
            try:
                owner = resolve_name(place)
                before = getattr(owner, name)
            except (AttributeError, ImportError) as error:
                _pass_over(error)
            else:
                setattr(owner, name, value)
                stack.callback(setattr, owner, name, before)
        yield


def keep_workers(tune_controller: Any, trial: Trial, slots: int) -> None:
    """Have Ray keep a worker for each slot: 3 s for each trial that would start one.

    By default Ray keeps one idle worker. A trial whose own worker is still starting gets it, and
    Ray ends the other, so that shorter trials would run one after the other.
    """
    try:
        controller = tune_controller._tune_controller
        reuse, started = controller._maybe_reuse_cached_actor, controller._trial_to_actor
        keep, wait = controller._actor_cache.increase_max, controller.update_max_pending_trials
        keep(trial.placement_group_factory, slots)
        wait(slots)
    except (AttributeError, TypeError) as error:
        _pass_over(error)
    else:
        controller._maybe_reuse_cached_actor = lambda it: it not in started and reuse(it)


def _pass_over(error: Exception) -> None:
    logger.debug(
        "Ray %s lacks a private part, and is slower without it: %s", ray.__version__, error
    )
