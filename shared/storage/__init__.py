"""How a memory is kept: commit, journal, index, repair, fold and rebuild, over the ports (docs/architecture.md)."""
