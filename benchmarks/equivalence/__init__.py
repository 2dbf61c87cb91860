"""Whether today's code does what older code did: decisions, numbers, times and energy."""
