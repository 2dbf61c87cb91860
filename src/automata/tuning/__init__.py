"""The measured job: search and scheduler over trials (Ray Tune), then the refit.

To be read in this order. `schedulers` decides which trials go on; `searchers` proposes; `search`
puts both together, as a function of the results. `ray_search` lets Ray Tune run the trials that the
search asks for: `trainable` is one in a worker, `ray_session` a Ray of the job's own, `ray_cluster`
the user's. `metering_callback` measures that and writes the `log`; `checkpoints` is what else is on
disk. `refit` trains the best configuration, `job` does it all.

After a `kill -9` the next process waits for the lock of the work folder, reads the log, and reports
its results to a new search. What it asks for then has no result yet: these trials train, from their
last checkpoint if it paid to write one. If none is missing, Ray is not started. The refit goes on
from its own checkpoint. What another job or version left is discarded.
"""
