"""Traditional Chinese characters as simplified ones, so that a search takes 後端 and 后端 for one word.

Character by character and the same way in memories and queries: what becomes of a text is never shown, so 乾 may be 干 everywhere. The
table is that of OpenCC (Apache License 2.0), with the variants of Taiwan and Hong Kong: `data/simplified.txt`, one simplified character a
line, then all that become it. `tests/unit/text/opencc.py` makes it.
"""

from functools import cache
from pathlib import Path


def simplified(text: str) -> str:
    """The text with each traditional character replaced by the simplified one; its length stays."""
    return text.translate(_table())


@cache
def _table() -> dict[int, str]:
    lines = Path(__file__).with_name("data").joinpath("simplified.txt").read_text("utf-8").split("\n")
    return {ord(sign): line[0] for line in lines for sign in line[1:]}
