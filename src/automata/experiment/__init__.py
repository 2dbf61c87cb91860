"""An experiment before it runs: its grid, files, progress and cost, and a recommended one.

- `grid` has the runs, `outputs` the files that are made from their records, `status` the progress.
- `sizes` are the searches that `recommended` chooses from by a `probe`. `new` writes its
  configuration, and `request` plans the job of `automata.tune`.
"""
