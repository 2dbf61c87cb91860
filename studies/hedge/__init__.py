"""What came out of the registered study (docs/study.md)."""
