"""Sealing, key derivation and tags. Pure; its contract is docs/spec/sealing.md."""
