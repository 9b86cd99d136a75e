"""Taking everything along: pages of JSON lines. docs/portability.md says what each line holds."""
