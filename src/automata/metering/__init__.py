"""Time and energy of a phase of a job, search or refit: one window for each uninterrupted part."""
