"""Use cases of a person's own hands: memories, tasks, settings, usage, projects."""
