"""Scenes, one for each project: a person's hand on them (`scenes`), deleting one (`deletion`), what maintenance does (`upkeep`)."""
