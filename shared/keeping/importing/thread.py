"""What is known of a file between its pages: how far it was read, and what its manifest will be held against. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from shared.domain.errors import DamagedFile
from shared.keeping.exporting import chain


@dataclass(frozen=True, slots=True)
class Thread:
    """`lines` were read so far; `begun` says that a header was among them, `whole` that a manifest came at their end and was true."""

    lines: int = 0
    chain: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    begun: bool = False
    whole: bool = False

    @property
    def cut(self) -> bool:
        """Whether the file had a beginning and has no end yet."""
        return self.begun and not self.whole

    def past(self, kind: str, line: str) -> "Thread":
        """Return the thread after one more line of a file of our own form."""
        counts = {**self.counts, kind: self.counts.get(kind, 0) + 1}
        begun = self.begun or kind == chain.HEADER
        return replace(self, chain=chain.chained(self.chain, line), counts=counts, begun=begun)

    def held_against(self, manifest: Mapping[str, Any]) -> "Thread":
        """Return the thread at its end. Raises DamagedFile when the manifest says something else than the lines."""
        if manifest.get("sha256") != self.chain or manifest.get("counts") != self.counts:
            raise DamagedFile
        return replace(self, whole=True)

    def to_body(self) -> dict[str, Any]:
        """Return what is sealed of it."""
        return {
            "lines": self.lines,
            "chain": self.chain,
            "counts": dict(self.counts),
            "begun": self.begun,
            "whole": self.whole,
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Self:
        """Read what `to_body` wrote."""
        return cls(body["lines"], body["chain"], body["counts"], body["begun"], body["whole"])
