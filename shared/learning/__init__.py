"""Use cases that turn conversations into memories."""
