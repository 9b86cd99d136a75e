"""Memories by a person's own hand: one (`memories`), its changes (`edits`), lists of them (`listing`), and what was true once (`as_of`)."""
