"""The measured job: a search over trials in Ray Tune, then the refit of the best configuration.

Read the modules in this order:

- `schedulers` decides which trials go on, `searchers` proposes configurations, and `search` joins
  them: the state of a search follows from its results and their order.
- `context` checks a job and locks the host. `job` runs it: search phase, refit, test,
  record. A search of more configurations may begin with a finished one (`extension`).
- `run_search` in `job` replays the `log` of the search and has `ray_search` run the missing trials,
  in a Ray of the job or in the user's (`ray_session`). `trainable` is one worker.
- `live` measures the search. It appends each result to the log, then judges it.
- `refit` trains the best configuration on all data, `checkpoints` writes states of training, and
  `work` names the files of unfinished work.
- `sizes` estimates what a search costs, for `automata new`.

After a `kill -9`, the work folder has the log and some checkpoints. The next process

1. waits for the lock of the work folder, and keeps the record if there is one by then;
2. cuts the log off before its first damaged line;
3. discards the folder if the log is of another job, data, hardware or software, and removes
   checkpoints that are ahead of the log;
4. judges the results of the log in a new search, which decides as before;
5. trains missing trials from their checkpoints, or from the start; if none is missing, no Ray runs;
6. resumes the refit from its own checkpoint, which also has the measurement up to that point.

A crash loses the training since the last checkpoint of each unfinished trial, and about a second
of the measurement of the logged results.
"""
