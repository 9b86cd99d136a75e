"""What holds for every test: what a clock measures has as much time as it needs, for other work on the machine must not make it fail."""

import os

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

os.environ["CONTEXT_MILLISECONDS"] = "30000"  # every local stack takes it over; the tests of that limit give their own
