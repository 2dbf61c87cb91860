"""Time and energy of a phase of a job: one window for each uninterrupted part."""
