"""Use cases that find memories: search, ranking, context."""
