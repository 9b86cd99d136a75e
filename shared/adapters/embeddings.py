"""What embedding models have in common: how far each is trusted, and what counts as an answer."""

import math
from collections.abc import Sequence
from typing import Any, Final

from shared.adapters.attempts import Passing
from shared.domain.asking import ModelDown
from shared.ports import Trust

DOCUMENT_SECONDS: Final = 20.0
"""For one request of a build, with all attempts; a query has the time that searches wait for it, once."""


UNMEASURED: Final = Trust(weight=0.3, floor=1.0, alike=0.96)
"""For models that no benchmark of ours has met: a little, and only to order what words have found."""
TRUST: Final = {"multilingual-e5-small": Trust(weight=1.0, floor=0.86, alike=0.96)}
"""Measured by `python -m benchmarks.embeddings` (docs/decisions/embeddings.md); your own figures for a model belong here."""


def trusted(model: str) -> Trust:
    """Return how far a model is trusted."""
    return TRUST.get(model, UNMEASURED)


def vectors_of(answer: Any, count: int, length: int) -> list[list[float]]:
    """Return an answer that is so many vectors of that length, none of them empty of meaning. Raises Passing(ModelDown) for any other."""
    if not isinstance(answer, list) or len(answer) != count or not all(_whole(vector, length) for vector in answer):
        raise Passing(ModelDown())
    return [list(map(float, vector)) for vector in answer]


def _whole(vector: Any, length: int) -> bool:
    if not isinstance(vector, list) or len(vector) != length:
        return False
    numbers = all(type(number) in {int, float} and math.isfinite(number) for number in vector)
    return numbers and any(vector)


def parts(texts: Sequence[str], most: int) -> list[Sequence[str]]:
    """Return the texts in runs of at most so many."""
    return [texts[at : at + most] for at in range(0, len(texts), most)]
