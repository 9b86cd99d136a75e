"""Cutting a text into the pieces of a unigram vocabulary, as SentencePiece does.

The best cut is the one whose pieces' log probabilities sum highest (Kudo, "Subword Regularization", 2018), found by Viterbi's method.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

SPACE: Final = "\u2581"
"""Stands for a space, so that pieces know where words begin."""
UNKNOWN_BELOW: Final = 10.0
_SPACES: Final = re.compile("  +")


@dataclass(frozen=True)
class Pieces:
    """`pieces` maps each piece to its number, `scores` holds their log probabilities, `folded` replaces characters before all else.

    A character of no piece counts as `unknown` and as much less likely than any.
    """

    pieces: Mapping[str, int] = field(repr=False)
    scores: Sequence[float] = field(repr=False)
    folded: Mapping[int, str] = field(repr=False)
    unknown: int
    longest: int
    lowest: float

    def cut(self, text: str) -> list[int]:
        """Return the numbers of the pieces of a text."""
        plain = _SPACES.sub(" ", unicodedata.normalize("NFKC", text).translate(self.folded))
        marked = ("" if plain.startswith(" ") else SPACE) + plain.replace(" ", SPACE)
        best = [0.0] + [float("-inf")] * len(marked)
        chosen = [(0, self.unknown)] * (len(marked) + 1)
        for start, score in enumerate(best[:-1]):
            # best[start] is final here: every piece that ends at it began before it
            reached = best[start] if start else score
            if reached + self.lowest - UNKNOWN_BELOW > best[start + 1]:
                best[start + 1], chosen[start + 1] = reached + self.lowest - UNKNOWN_BELOW, (start, self.unknown)
            for end in range(start + 1, min(start + self.longest, len(marked)) + 1):
                piece = self.pieces.get(marked[start:end])
                if piece is not None and reached + self.scores[piece] > best[end]:
                    best[end], chosen[end] = reached + self.scores[piece], (start, piece)
        numbers, at = [], len(marked)
        while at:
            at, piece = chosen[at]
            numbers.append(piece)
        return numbers[::-1]
