"""How long a tuning job takes on several slots: an event simulation, in which nothing trains."""
