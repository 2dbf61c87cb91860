"""The measured job: search and scheduler over trials (Ray Tune), then the refit."""

SEARCHES: dict[str, str] = {
    "random": "automata.tuning.searchers:RandomSearch",
    "tpe": "automata.tuning.searchers:TpeSearch",
}
"""Search name -> "module:class", imported when a search is built."""

SCHEDULERS: dict[str, str] = {
    "hyperband": "automata.tuning.schedulers:Hyperband",
    "asha": "automata.tuning.schedulers:Asha",
    "none": "automata.tuning.schedulers:NoScheduler",
}
"""Scheduler name -> "module:class", imported when a scheduler is built."""
