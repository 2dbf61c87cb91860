"""The measured job: search and scheduler over trials (Ray Tune), then the final training."""

SEARCHES: dict[str, str] = {
    "random": "automata.tuning.search:random_search",
    "tpe": "automata.tuning.search:tpe_search",
}
"""Search name -> "module:factory", imported when a search is built."""

SCHEDULERS: dict[str, str] = {
    "hyperband": "automata.tuning.schedulers:Hyperband",
    "asha": "automata.tuning.schedulers:Asha",
    "none": "automata.tuning.schedulers:NoScheduler",
}
"""Scheduler name -> "module:class", imported when a scheduler is built."""
