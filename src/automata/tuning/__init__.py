"""The measured job: a search over trials in Ray Tune, then the refit of the best configuration.

Read the modules in this order:

- `schedulers` decides which trials go on, `searchers` proposes configurations, and `search` joins
  them: the state of a search follows from its results and their order.
- `context` checks a job and locks the host. `job` runs it: search phase, refit, test, record.
- `job.run_search` replays the `log` of an interrupted search, then has `ray_search` run the
  unfinished trials in the job's own Ray or in the user's (`ray_session`). `trainable` trains them.
- `live` measures the search. It appends each result to the log, then judges it.
- `refit` trains the best configuration on all data. `work` has the files of unfinished work.
- `sizes` estimates what a search costs, for `automata new`.

After a `kill -9`, the work folder has the log and some checkpoints. The next process

1. waits for the lock of the work folder, and keeps the record if there is one by then;
2. cuts the log off before its first damaged line;
3. discards the folder if the log is of another job, data, hardware or software, and removes
   checkpoints that are damaged or ahead of the log;
4. judges the results of the log in a new search, which decides as before;
5. trains unfinished trials from their checkpoints or from the start, in Ray if there are any;
6. resumes the refit from its own checkpoint, or starts it again if there is none.

The training since the last checkpoint of a trial or of the refit is lost. The record has the energy
up to the last measurement in the log (a second or more apart) or in the refit's checkpoint.
"""
