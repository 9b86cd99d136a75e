"""Consolidation: fewer memories that say the same. A model (or the rules) proposes, the server judges and writes, the owner may undo."""
