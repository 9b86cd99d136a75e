"""What Nacre knows about words: normalising, tokens, triggers, intent, secrets. Pure."""
