"""Sessions and their notes (`sessions`); maintenance ends those in which nobody speaks any more (`silent`)."""
