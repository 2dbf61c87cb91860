"""The measured job: trials in Ray Tune, first those of the search, then the finalists on all data.

`automata.search` decides which trials go on.

Read the modules in this order:

- `searchers` proposes configurations, with searchers of Ray Tune.
- `context` checks a job and locks the host. `job` runs it: phases, test, record.
- `phases` replays the logs of an interrupted job. `ray_search` has Ray (`ray_session`) run what is
  left, and `trainable` trains it.
- `live` measures a phase. It appends each result to the `log`, then judges it.
- `work` has the paths of unfinished work, `checkpoints` writes and reads trainings.

After a `kill -9`, the work folder has a log and some checkpoints of each phase. The next process

1. waits for the lock of the work folder, and keeps the record if there is one by then;
2. cuts a log off before its first damaged line;
3. discards a phase if its log is of another job, data, hardware or software, and removes
   checkpoints that are ahead of its log;
4. judges the results of the log in a new search, which decides as before;
5. trains unfinished trials from their checkpoints or from the start, in Ray if there are any.

The training since the last checkpoint of a trial is lost. The record has time and energy up to the
last measurement in the log: with each checkpoint between rungs, and else a second or more apart.
"""
