"""The confirmatory study of docs/study.md: its data, its searches and its result."""
