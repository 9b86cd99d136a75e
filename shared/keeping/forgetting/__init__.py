"""Forgetting many memories at once: what is meant (`selection`), asking for it (`asking`), and doing it in maintenance (`steps`)."""
