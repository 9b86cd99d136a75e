"""Whether the current version of a short fact comes before the outdated one, on pairs written for it (benchmarks/data/versions.jsonl).

A line is {language, kind, half, old, new, ask}. In `value` one word or number is another, in `marked` a word or two of change came with it
("now", 现在), `rewritten` says the new one as people do. `apart` are no versions: both are true, and what is asked for is in the old one,
which must stay first. Rules were looked for with the half `tuned`; the half `held` was measured when they stood.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from benchmarks.retrieval_product import product
from benchmarks.retrieval_sets import Question, memory
from benchmarks.retrieval_twins import READS
from shared.domain.ids import ulid
from shared.recall.index import Entry
from shared.recall.ranking import Preset

PAIRS: Final = Path(__file__).parent / "data" / "versions.jsonl"
NOW: Final = datetime(2026, 6, 1, 12, tzinfo=UTC)
OLD, NEW = timedelta(days=200), timedelta(days=2)
APART: Final = "apart"
_FIRST: Final = 20
_BEHIND: Final = 99


class Pair(BaseModel):
    """An old fact, a newer one, and a question that the newer one answers; of a pair `apart` the old one does."""

    language: str
    kind: str
    half: str
    old: str
    new: str
    ask: str


def pairs(half: str | None = None) -> list[Pair]:
    """The pairs of a half, or all."""
    read = [Pair.model_validate_json(line) for line in PAIRS.read_bytes().split(b"\n") if line]
    return [pair for pair in read if half in {None, pair.half}]


def right_first(asked: Sequence[Pair], preset: Preset, reads: int = 0) -> list[bool]:
    """For each pair whether the right one comes before the other; all pairs of a language and half are one person's memories.

    The old ones are `OLD` of age and were read so many times, the new ones `NEW`.
    """
    stores: dict[str, list[Entry]] = defaultdict(list)
    names = []
    for place, pair in enumerate(asked):
        old, new = _entry(2 * place, pair.old, OLD), _entry(2 * place + 1, pair.new, NEW)
        stores[pair.language + pair.half] += [replace(old, access_count=reads), new]
        names.append((old.id, new.id) if pair.kind == APART else (new.id, old.id))
    ranked = product(stores, preset, _FIRST)
    found = []
    for pair, (right, wrong) in zip(asked, names, strict=True):
        places = ranked(Question(pair.language + pair.half, pair.ask, NOW, frozenset({right})))
        found.append(right in places and (wrong not in places or places.index(right) < places.index(wrong)))
    return found


def shares(presets: Mapping[str, Preset], halves: Sequence[str] = ("tuned", "held")) -> Iterator[dict[str, object]]:
    """A line for each half, language and kind: pairs that have the right one first by each preset; `read`, once the old ones were read."""
    for half in halves:
        asked = pairs(half)
        right = {name: right_first(asked, preset) for name, preset in presets.items()}
        right["read"] = right_first(asked, next(iter(presets.values())), READS)
        groups: dict[tuple[str, str], list[int]] = defaultdict(list)
        for place, pair in enumerate(asked):
            groups[pair.language, pair.kind].append(place)
        for (language, kind), places in groups.items():
            counted = {name: sum(good[place] for place in places) for name, good in right.items()}
            yield {"half": half, "language": language, "pairs": kind, "of": len(places)} | counted


def _entry(place: int, text: str, age: timedelta) -> Entry:
    at = NOW - age
    return memory(ulid(at, lambda size: place.to_bytes(size, "big")), text, int(at.timestamp()))
