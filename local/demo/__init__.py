"""`make demo`: the main job on one machine, from a conversation to the proof that nothing of it can be read."""
