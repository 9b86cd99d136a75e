"""Looks on record: at what is masked (`auditing`), at another person's memory (`view`); and the operator's notes for agents."""
