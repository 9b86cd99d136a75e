"""Use cases of a person's own hands, a room each; and the maintenance of what they keep."""
