"""What came out of the registered studies (docs/study.md, docs/study-2.md)."""
