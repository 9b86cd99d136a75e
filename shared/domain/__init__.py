"""Types, limits and errors. Pure: no I/O, no clock, no third-party service."""
