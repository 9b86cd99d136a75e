"""What holds for every test: a property has as much time as it needs, for other work on the machine must not make it fail."""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
