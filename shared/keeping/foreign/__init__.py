"""Memories that other tools kept, as records to take in: `detecting` tells a form by what is in it, `reading` reads it. Pure, no I/O.

docs/portability-formats.md says what becomes of each field.
"""
