"""Whether the current version of a fact comes before the outdated one, on twins made of labelled sets."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from benchmarks.retrieval_product import product
from benchmarks.retrieval_sets import Question, Store
from shared.domain.ids import ulid
from shared.recall.index import Entry
from shared.recall.ranking import Preset

TWINS: Final = ("same", "changed", "number", "shorter", "longer", "read")
FIRST: Final = 20
READS: Final = 6
_PIECE: Final = re.compile(r"[A-Za-z]{4,}|[\u4e00-\u9fff]{2}")
_NUMBER: Final = re.compile(r"\d+")
_BEHIND: Final = 99


def current_first(stores: Store, questions: Sequence[Question], preset: Preset, kind: str) -> tuple[float, int]:
    """Share of answers that come before their outdated twin, of those (and how many) whose question finds either among the first 20.

    Each answer gets a twin 30 to 400 days older: `same` has the same words; in place of a word (two Chinese characters) that the question
    does not name, `changed` has another of the set, `shorter` none, `longer` both; `number` has another number. `read` is `changed`,
    and the outdated one was read six times.
    """
    rng = random.Random(7)
    others = words_and_pairs(stores)
    by_id = {entry.id: entry for entries in stores.values() for entry in entries}
    twins: Store = {user: list(entries) for user, entries in stores.items()}
    pairs: dict[str, str] = {}
    for question in questions:
        for name in sorted(question.relevant - pairs.keys()):
            twin = outdated(by_id[name], question.text, kind, rng, others)
            if twin is not None:
                pairs[name] = twin.id
                twins[question.user].append(twin)
    ranked = product(twins, preset, FIRST)
    wins = met = 0
    for question in questions:
        place = {name: at for at, name in enumerate(ranked(question))}
        for name in question.relevant & pairs.keys():
            current, older = place.get(name, _BEHIND), place.get(pairs[name], _BEHIND)
            met += min(current, older) < _BEHIND
            wins += current < older
    return wins / max(met, 1), met


def outdated(
    entry: Entry, question: str, kind: str, rng: random.Random, others: Mapping[bool, Sequence[str]]
) -> Entry | None:
    """The older twin of an answer; None when it has nothing that could be another."""
    text = entry.text
    if kind != "same":
        pieces = (_NUMBER if kind == "number" else _PIECE).finditer(text)
        spans = [match.span() for match in pieces if match.group().lower() not in question.lower()]
        if not spans:
            return None
        start, end = rng.choice(spans)
        text = text[:start] + _instead(text[start:end], kind, rng, others) + text[end:]
    at = max(0, entry.created_at - rng.randint(30, 400) * 86_400)
    name = ulid(datetime.fromtimestamp(at, UTC), rng.randbytes)
    reads = READS if kind == "read" else 0
    return replace(entry, id=name, text=text, created_at=at, updated_at=at, access_count=reads)


def _instead(piece: str, kind: str, rng: random.Random, others: Mapping[bool, Sequence[str]]) -> str:
    if kind == "number":
        return str(int(piece) + rng.randint(1, 9))
    if kind == "shorter":
        return ""
    other = rng.choice(others[piece.isascii()])
    if kind in {"changed", "read"}:
        return other
    return f"{piece} {other}" if piece.isascii() else piece + other


def words_and_pairs(stores: Store) -> dict[bool, list[str]]:
    """All words and pairs of characters of a set, by whether they are Latin."""
    found = sorted({piece for entries in stores.values() for entry in entries for piece in _PIECE.findall(entry.text)})
    return {latin: [piece for piece in found if piece.isascii() is latin] for latin in (True, False)}
