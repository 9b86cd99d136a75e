"""A regular expression that is compiled on first use, so that importing tables of words costs a function no cold start.

Compiling every pattern of this folder takes some 80 ms; most functions need a few of them or none.
"""

import re
from collections.abc import Callable, Iterator
from functools import cached_property


class Pattern:
    """`re.compile(source, flags)` delayed: the same methods, the same meaning of `pos` and `endpos`."""

    def __init__(self, source: str, flags: int = 0) -> None:
        """Keep the source; a faulty one raises `re.error` at first use."""
        self._source = source
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)

    def search(self, text: str, pos: int = 0, endpos: int | None = None) -> re.Match[str] | None:
        """See `re.Pattern.search`."""
        return self._compiled.search(text, pos, len(text) if endpos is None else endpos)

    def match(self, text: str, pos: int = 0, endpos: int | None = None) -> re.Match[str] | None:
        """See `re.Pattern.match`."""
        return self._compiled.match(text, pos, len(text) if endpos is None else endpos)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """See `re.Pattern.fullmatch`."""
        return self._compiled.fullmatch(text)

    def finditer(self, text: str, pos: int = 0, endpos: int | None = None) -> Iterator[re.Match[str]]:
        """See `re.Pattern.finditer`."""
        return self._compiled.finditer(text, pos, len(text) if endpos is None else endpos)

    def findall(self, text: str) -> list[str]:
        """See `re.Pattern.findall`; for patterns without groups."""
        return self._compiled.findall(text)

    def split(self, text: str) -> list[str]:
        """See `re.Pattern.split`; for patterns without groups."""
        return self._compiled.split(text)

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str) -> str:
        """See `re.Pattern.sub`."""
        return self._compiled.sub(replacement, text)
