"""How well memories are found: recall, nDCG and MRR of every preset on labelled sets, and whether current facts beat outdated ones.

`python -m benchmarks.retrieval [--data DIR]`. The sets are not part of the project (their licences differ); `DIR` holds one folder per set
with `docs.jsonl` {id, user, text, ts} and `queries.jsonl` {id, user, query, ts, rel}. Without them nothing is measured, and that is said.
"""

import argparse
import json
import math
import random
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from shared.domain.ids import ulid
from shared.domain.memory import Scope
from shared.recall.index import Entry, Index
from shared.recall.ranking import DEFAULT, PRESETS, Preset, rank, signals
from shared.text.tokens import query_terms

BASELINES: Final[Mapping[str, Mapping[str, tuple[float, float, float]]]] = {
    "locomo-fact": {
        "SQLite FTS5, porter": (0.578, 0.644, 0.526),
        "bm25s, stop words + Snowball": (0.601, 0.666, 0.560),
        "one mixed analyser (design)": (0.639, 0.704, 0.602),
    },
    "cmrc-sent": {
        "SQLite FTS5, trigram": (0.757, 0.849, 0.704),
        "bm25s, jieba search mode": (0.912, 0.955, 0.849),
        "one mixed analyser (design)": (0.952, 0.982, 0.898),
    },
}
"""Recall@5, recall@10 and nDCG@10 that came with the data."""
UNDATED: Final = datetime(2019, 1, 1, tzinfo=UTC)
TWINS: Final = ("same", "changed", "shorter")
USER, PROJECT = bytes(16), bytes([1]) * 16
SCOPES: Final = {USER: Scope.USER, PROJECT: Scope.PROJECT}


@dataclass(frozen=True, slots=True)
class Question:
    """One labelled query: who asks, what, when, and the ids that answer it."""

    user: str
    text: str
    now: datetime
    relevant: frozenset[str]


Store = dict[str, list[Entry]]
Dress = Callable[[Entry], Entry]


def read(folder: Path) -> tuple[Store, list[Question]]:
    """Memories by user and the questions of one set, ids replaced by ULIDs in the order of the file."""
    stores: Store = defaultdict(list)
    names: dict[str, str] = {}
    for place, line in enumerate(_lines(folder / "docs.jsonl")):
        at = _moment(line["ts"]) or UNDATED + timedelta(seconds=place)
        names[line["id"]] = ulid(at, lambda size, place=place: place.to_bytes(size, "big"))  # type: ignore[misc]
        stores[line["user"]].append(_entry(names[line["id"]], line["text"], int(at.timestamp())))
    questions = [
        Question(
            line["user"],
            line["query"],
            _moment(line["ts"]) or UNDATED + timedelta(days=1),
            frozenset(names[name] for name in line["rel"]),
        )
        for line in _lines(folder / "queries.jsonl")
    ]
    return dict(stores), questions


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None


def _entry(name: str, text: str, at: int) -> Entry:
    return Entry(id=name, version=1, text=text, created_at=at, updated_at=at, importance=5, category=5, scope_tag=USER)


def quality(
    stores: Store, questions: Sequence[Question], preset: Preset, dress: Dress = lambda entry: entry
) -> list[float]:
    """Recall@5, recall@10, nDCG@10 and MRR, averaged over the questions; `dress` changes what is not text of each memory."""
    indexes = {user: Index.build(map(dress, entries)) for user, entries in stores.items()}
    sums = [0.0, 0.0, 0.0, 0.0]
    for question in questions:
        top = _ranked(indexes[question.user], question, preset, 10)
        hits = [name in question.relevant for name in top]
        ideal = sum(1 / math.log2(place + 2) for place in range(min(10, len(question.relevant))))
        sums[0] += sum(hits[:5]) / len(question.relevant)
        sums[1] += sum(hits) / len(question.relevant)
        sums[2] += sum(1 / math.log2(place + 2) for place, hit in enumerate(hits) if hit) / ideal
        sums[3] += next((1 / (place + 1) for place, hit in enumerate(hits) if hit), 0.0)
    return [total / len(questions) for total in sums]


def _ranked(index: Index, question: Question, preset: Preset, limit: int) -> list[str]:
    found = index.candidates(
        query_terms(question.text, now=question.now), k=preset.candidates if preset.days < 0 else 100
    )
    order = rank(signals(found, SCOPES), preset, now=question.now.timestamp(), limit=limit).order
    return [found.ids[place] for place in order]


def current_first(stores: Store, questions: Sequence[Question], preset: Preset, kind: str) -> float:
    """Share of answers that come before their outdated twin, of those whose question finds either among the first 20.

    Each answer gets a twin 30 to 400 days older: `same` has the same words, `changed` another word (two characters) in place of one
    that the question does not name, `shorter` lacks that word, which by length alone would put the outdated one first.
    """
    rng = random.Random(7)
    by_id = {entry.id: entry for entries in stores.values() for entry in entries}
    twins: Store = {user: list(entries) for user, entries in stores.items()}
    pairs: dict[str, str] = {}
    for question in questions:
        for name in sorted(question.relevant - pairs.keys()):
            twin = _outdated(by_id[name], question.text, kind, rng)
            pairs[name] = twin.id
            twins[question.user].append(twin)
    indexes = {user: Index.build(entries) for user, entries in twins.items()}
    wins = met = 0
    for question in questions:
        place = {name: at for at, name in enumerate(_ranked(indexes[question.user], question, preset, 20))}
        for name in question.relevant:
            current, outdated = place.get(name, 99), place.get(pairs[name], 99)
            met += min(current, outdated) < 99
            wins += current < outdated
    return wins / met


def _outdated(entry: Entry, question: str, kind: str, rng: random.Random) -> Entry:
    at = entry.created_at - rng.randint(30, 400) * 86_400
    text = entry.text
    spans = _spans(text, question)
    if kind != "same" and spans:
        start, end = rng.choice(spans)
        other = "" if kind == "shorter" else "旧值" if ord(text[start]) > 0x2E7F else "formerly"
        text = text[:start] + other + text[end:]
    name = ulid(datetime.fromtimestamp(at, UTC), rng.randbytes)
    return replace(entry, id=name, text=text, created_at=at, updated_at=at)


def _spans(text: str, question: str) -> list[tuple[int, int]]:
    """Words, or two Chinese characters, of a text that the question does not hold."""
    pieces = re.finditer(r"[A-Za-z]{4,}|[\u4e00-\u9fff]{2}", text)
    return [match.span() for match in pieces if match.group().lower() not in question.lower()]


def dressed(rng: random.Random, what: str) -> Dress:
    """Give memories random categories, scopes or access counts: what has no labels can only be shown to do no harm."""

    def change(entry: Entry) -> Entry:
        if what == "category":
            return replace(entry, category=rng.randrange(8))
        if what == "scope":
            return replace(entry, scope_tag=rng.choice((USER, PROJECT)))
        return replace(entry, access_count=int(rng.paretovariate(0.8)) - 1)

    return change


def report(name: str, folder: Path) -> None:
    """Print every figure of one set."""
    stores, questions = read(folder)
    print(f"\n{name}: {len(stores)} users, {sum(map(len, stores.values()))} memories, {len(questions)} queries")
    print(f"{'':34}{'R@5':>8}{'R@10':>8}{'nDCG@10':>9}{'MRR':>8}")
    for label, figures in BASELINES.get(name, {}).items():
        print(f"{label:34}{figures[0]:8.3f}{figures[1]:8.3f}{figures[2]:9.3f}")
    for preset in PRESETS.values():
        _row(f"preset {preset.name}", quality(stores, questions, preset))
    text_only = replace(DEFAULT, recency=0.0, popularity=0.0, category_power=0.0, source_power=0.0)
    _row("text alone", quality(stores, questions, text_only))
    for what in ("category", "scope", "access count"):
        _row(f"default, random {what}", quality(stores, questions, DEFAULT, dressed(random.Random(3), what)))
    for label, preset in (("default", DEFAULT), ("text alone", text_only), ("rrf", PRESETS["rrf"])):
        shares = "   ".join(f"{kind} {current_first(stores, questions, preset, kind):.3f}" for kind in TWINS)
        print(f"current before its outdated twin, {label:11} {shares}")


def _row(label: str, figures: Sequence[float]) -> None:
    print(f"{label:34}{figures[0]:8.3f}{figures[1]:8.3f}{figures[2]:9.3f}{figures[3]:8.3f}", flush=True)


def main() -> None:
    """Measure every set in the data folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[1].parent / "shared" / "bench")
    data: Path = parser.parse_args().data
    folders = sorted(path.parent for path in data.glob("*/queries.jsonl"))
    if not folders:
        print("retrieval: no labelled data here, so nothing is measured; give --data DIR")
    for folder in folders:
        report(folder.name, folder)


if __name__ == "__main__":
    main()
