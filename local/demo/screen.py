"""Lines for a terminal of 100 columns; plain text where no terminal is."""

import os
import time
import unicodedata
from collections.abc import Callable
from typing import TextIO

COLUMNS = 100
_STYLES = {"title": "1;36", "dim": "2", "good": "32", "bad": "1;31", "strong": "1"}


def width(text: str) -> int:
    """Columns that a text takes; Chinese characters take two."""
    return sum(
        2 if unicodedata.east_asian_width(one) in "WF" else 0 if unicodedata.combining(one) else 1 for one in text
    )


def cut(text: str, columns: int) -> str:
    """Return the text, shortened with … if it is wider."""
    if width(text) <= columns:
        return text
    while width(text) > columns - 1:
        text = text[:-1]
    return text + "…"


def wrap(text: str, columns: int) -> list[str]:
    """Return the text in lines of at most that many columns, broken at spaces where there are any."""
    lines: list[str] = []
    for line in text.split("\n"):
        rest = line
        while width(rest) > columns:
            end = len(cut(rest, columns)) - 1
            space = rest.rfind(" ", 1, end + 1)
            end = space if space > end // 2 else end
            lines.append(rest[:end])
            rest = rest[end:].lstrip(" ")
        lines.append(rest)
    return lines


class Screen:
    """Writes lines and remembers which expectations failed."""

    def __init__(self, out: TextIO, clock: Callable[[], float] = time.perf_counter) -> None:
        self._out = out
        self._clock = clock
        self._started = clock()
        self._coloured = out.isatty() and not os.environ.get("NO_COLOR")
        self._number = 0
        self.failed: list[str] = []
        self.held = 0

    def _styled(self, text: str, style: str | None) -> str:
        return f"\033[{_STYLES[style]}m{text}\033[0m" if style and self._coloured else text

    def title(self, chinese: str, english: str) -> None:
        """Begin a part."""
        self._number += 1
        seconds = f"{self._clock() - self._started:.1f} s"
        text = f"{self._number} · {chinese} · {english} "
        rule = "─" * max(3, COLUMNS - width(text) - len(seconds) - 2)
        self._out.write(f"\n{self._styled(text, 'title')}{self._styled(f'{rule} {seconds}', 'dim')}\n")
        self._out.flush()

    def line(self, text: str = "", style: str | None = None) -> None:
        """Write one line, cut to the screen."""
        self._out.write(self._styled(cut(text, COLUMNS), style).rstrip() + "\n")
        self._out.flush()

    def text(self, text: str) -> None:
        """Write a whole text, wrapped and indented."""
        for line in wrap(text, COLUMNS - 4):
            self.line(f"    {line}")

    def expect(self, holds: object, sentence: str) -> None:
        """Say whether what the sentence claims is so, and remember it when it is not."""
        if holds:
            self.held += 1
            self.line(f"  ✓ {sentence}", "good")
        else:
            self.failed.append(sentence)
            self.line(f"  ✗ {sentence}", "bad")
