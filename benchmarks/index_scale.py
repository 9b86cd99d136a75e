"""How the index grows: build, size, load and search for one owner of 1,000 to 200,000 memories.

`python -m benchmarks.index_scale [N …] [--data DIR]`. Without `--data` the text is made up: half English-like sentences over a
Zipf vocabulary, half Chinese-like ones; with it, sentences of `DIR/locomo-fact` and `DIR/cmrc-sent` are
recombined with rare words, as the design's sketch did. Times are CPU milliseconds of this process, the query's own analysis included.
"""

import argparse
import json
import os
import random
import resource
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from shared.domain.ids import ulid
from shared.recall.feedback import fed
from shared.recall.index import Entry, Index, Where
from shared.recall.ranking import DEFAULT
from shared.text.tokens import query_terms

SIZES = [1_000, 18_000, 50_000, 200_000]
SEED = 1
NOW = datetime(2026, 1, 1, tzinfo=UTC)
FIRST = 1_600_000_000
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "is", "on", "et")]
SEALING = 28
"""Nonce and tag that sealing adds, in bytes."""


def sentences(rng: random.Random, data: Path | None) -> Iterator[str]:
    """Endless texts of about 160 letters or 40 characters, both languages by turns."""
    if data:
        english, chinese = (
            [json.loads(line)["text"] for line in (data / name / "docs.jsonl").read_text("utf-8").split("\n") if line]
            for name in ("locomo-fact", "cmrc-sent")
        )
    else:
        english, chinese = [_made_up_english(rng) for _ in range(1_500)], [_made_up_chinese(rng) for _ in range(5_000)]
    while True:
        yield _rare_english(rng, english) if rng.random() < 0.5 else _mixed_chinese(rng, chinese)


def _made_up_english(rng: random.Random) -> str:
    return " ".join(_zipf_word(rng, 4_000) for _ in range(rng.randint(9, 20)))


def _zipf(rng: random.Random, shape: float, size: int) -> int:
    """A rank whose head is flattened: what stands at the head of real text are stop words, which no index holds."""
    return min(int(20 * rng.paretovariate(shape)) - 20, size - 1)


def _zipf_word(rng: random.Random, size: int) -> str:
    rank = _zipf(rng, 0.8, size)
    return SYLLABLES[rank % 140] + (SYLLABLES[rank // 140 % 140] if rank >= 140 else "") + "t"


def _made_up_chinese(rng: random.Random) -> str:
    ranks = (_zipf(rng, 0.7, 12_000) for _ in range(30))
    return "".join(chr(0x4E00 + 7 * (rank % 2_500)) + chr(0x4E00 + 7 * (rank * 31 % 2_500)) for rank in ranks)


def _rare_english(rng: random.Random, english: list[str]) -> str:
    words = rng.choice(english).split()
    for _ in range(4):
        words[rng.randrange(len(words))] = f"w{min(int(rng.paretovariate(0.6)) - 1, 59_999):05x}"
    return " ".join(words)[:160]


def _mixed_chinese(rng: random.Random, chinese: list[str]) -> str:
    pieces = []
    for text in (rng.choice(chinese), rng.choice(chinese)):
        start = rng.randrange(max(1, len(text) - 20))
        pieces.append(text[start : start + 20])
    return "".join(pieces)


def memories(count: int, rng: random.Random, data: Path | None) -> list[Entry]:
    """So many memories of one owner with 40 scopes, most of them in a few."""
    texts = sentences(rng, data)
    made = sorted(FIRST + rng.randrange(160_000_000) for _ in range(count))
    return [
        Entry(
            id=ulid(datetime.fromtimestamp(at, UTC), rng.randbytes),
            version=rng.randint(1, 3),
            text=next(texts),
            created_at=at,
            updated_at=at + rng.randrange(1_000_000),
            importance=rng.randint(1, 10),
            category=rng.randrange(8),
            scope_tag=bytes([min(int(rng.paretovariate(0.6)), 40)]) * 16,
            status=0,
            access_count=rng.randrange(20),
        )
        for at in made
    ]


def searched(
    index: Index, queries: list[str], where: Where, masked: list[str], known: dict[str, Entry] | None = None
) -> list[float]:
    """CPU milliseconds of each search, analysis included, ascending; with what the best find says too, where memories are `known`."""
    times = []
    for query in queries:
        start = time.process_time()
        asked = query_terms(query, now=NOW)
        found = index.candidates(asked, where=where, masked=masked)
        if known and found.ids:
            more = fed(asked, known[found.ids[0]].terms(), index, DEFAULT.feedback)
            found = found.plus(index.search(more, masked=masked).scores(found)) if more else found
        times.append((time.process_time() - start) * 1e3)
    return sorted(times)


def measure(count: int, data: Path | None) -> dict[str, float]:
    """All figures of one size."""
    rng = random.Random(SEED)
    entries = memories(count, rng, data)
    start = time.process_time()
    index = Index.build(entries)
    built = time.process_time() - start
    start = time.process_time()
    packed = index.pack()
    compressed = time.process_time() - start
    start = time.process_time()
    opened = Index.open(packed)
    load = (time.process_time() - start) * 1e3
    scopes = Where(scopes=frozenset({bytes([1]) * 16, bytes([2]) * 16}), statuses=frozenset({0}))
    queries = [entries[rng.randrange(count)].text[: rng.choice((12, 30, 60))] for _ in range(300)]
    del index
    times = searched(opened, queries, scopes, [])
    fed_times = searched(opened, queries, scopes, [], {entry.id: entry for entry in entries})
    masked = searched(opened, queries, scopes, [entry.id for entry in entries[::7]][:300])
    return {
        "memories": count,
        "postings": len(opened.columns.documents),
        "terms": len(opened.columns.terms),
        "build_s": round(built, 1),
        "pack_s": round(compressed, 1),
        "sealed_mb": round((len(packed) + SEALING) / 1e6, 2),
        "open_ms": round(load, 1),
        "search_p50_ms": round(times[150], 2),
        "search_p95_ms": round(times[285], 2),
        "with_feedback_p50_ms": round(fed_times[150], 2),
        "with_feedback_p95_ms": round(fed_times[285], 2),
        "search_300_masked_p95_ms": round(masked[285], 2),
        "load": round(os.getloadavg()[0], 1),
        "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def main() -> None:
    """Print one line of JSON per size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--data", type=Path)
    chosen = parser.parse_args()
    for count in chosen.sizes:
        print(json.dumps(measure(count, chosen.data)), flush=True)


if __name__ == "__main__":
    main()
