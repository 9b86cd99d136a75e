"""One module per outside system; each builds and parses its own keys and translates that system's errors."""
