"""The decisions of a search, which follow from its results and their order alone, without Ray.

- `schedulers` decides which trials go on, `search` joins it with the proposals of a searcher.
- `finalists` are the best trials of a search. Their training is a search too, over their
  configurations alone.
"""
