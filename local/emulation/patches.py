"""Replacements of attributes that can be undone, each with the reason it exists."""

from typing import Any, NamedTuple

_ABSENT = object()


class Replacement(NamedTuple):
    """One attribute that was replaced: where, its name, what stood there, and why it had to change."""

    owner: Any
    name: str
    before: Any
    reason: str


class Patches:
    """A list of replacements; the last one made is undone first."""

    def __init__(self) -> None:
        self.replacements: list[Replacement] = []

    def replace(self, owner: Any, name: str, value: Any, reason: str) -> Any:
        """Set `owner.name` to `value` and return what stood there; `reason` says what is wrong without it."""
        before = vars(owner).get(name, _ABSENT) if isinstance(owner, type) else getattr(owner, name, _ABSENT)
        self.replacements.append(Replacement(owner, name, before, reason))
        original = getattr(owner, name, None)
        setattr(owner, name, value)
        return original

    def undo(self) -> None:
        """Put every original back. Safe to call twice."""
        while self.replacements:
            owner, name, before, _ = self.replacements.pop()
            if before is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
