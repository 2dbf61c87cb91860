"""The paper's data sets: downloads with checksums, and readers of their official files."""
