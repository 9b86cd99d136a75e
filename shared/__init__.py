"""Nacre's own code: one package, built as one Lambda layer."""
