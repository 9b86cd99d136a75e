"""An embedding model that knows a few things by several names, in English and Chinese; it can be slow, or fail, as told."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Event

from shared.ports import Trust

TRUST = Trust(weight=0.7, floor=0.3, alike=0.96)
CONCEPTS = (
    ("coffee", "espresso", "caffeine", "咖啡", "提神"),
    ("tea", "oolong", "茶", "普洱"),
    ("home", "lives", "apartment", "住", "家"),
    ("deploy", "release", "rollout", "发布", "上线"),
)
"""Each a direction of its own; the last direction is everything's."""


@dataclass
class FakeEmbedder:
    """The port `Embedder`. `fault` is raised by every call while it is set; queries wait for `held` while that is set."""

    name: str = "fake"
    trust: Trust = TRUST
    fault: Exception | None = None
    held: Event | None = None
    texts: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)

    def serves(self, query: str) -> bool:
        return "lexical" not in query

    def documents(self, texts: Sequence[str]) -> list[list[float]]:
        self.texts += texts
        if self.fault:
            raise self.fault
        return [vector(text) for text in texts]

    def query(self, text: str) -> list[float]:
        self.queries.append(text)
        if self.held is not None:
            self.held.wait()
        if self.fault:
            raise self.fault
        return vector(text)


def vector(text: str) -> list[float]:
    """One count per concept, and a little of everything."""
    return [float(sum(text.lower().count(word) for word in words)) for words in CONCEPTS] + [0.1]
