"""Time and energy of one phase of a job."""
