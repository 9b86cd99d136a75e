"""What a model wrote: read as JSON (`loose_json`), the answer in it (`parts`), what of it counts (`answers`, `unwanted`, `grounding`)."""
