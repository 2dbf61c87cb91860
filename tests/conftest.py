"""Settings of all tests."""

from hypothesis import settings

# The machines that run these are shared: how long an example takes says nothing.
settings.register_profile("project", deadline=None)
settings.load_profile("project")
