"""Evolution: patterns that repeat become suggestions (`evolving`), which follow what they rest on (`clearing`)."""
