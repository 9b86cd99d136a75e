"""What meaning adds to words: the product's index and ranking with and without an embedding model, on labelled sets.

    python -m benchmarks.embeddings --data DIR --model local
    EMBEDDING_MODEL=... EMBEDDING_LENGTH=... EMBEDDING_URL=... python -m benchmarks.embeddings --data DIR --model openai

`DIR` is a set or a folder of sets (benchmarks/retrieval_sets.py). One JSON line per set and weight: the figures by words alone, the same
with the model, how often a current fact comes before a twin that is older and says another word, and milliseconds a memory and a query.
Bedrock and endpoints are asked as the environment says, with every text of the sets; `--weight`, `--floor` and `--alike` try other trust.
"""

import argparse
import json
import os
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from benchmarks.retrieval_product import DEPTH, Owner, Ranked, figures
from benchmarks.retrieval_sets import SCOPES, IllFormed, Question, Store, folders, read
from benchmarks.retrieval_twins import FIRST, outdated, words_and_pairs
from local.embeddings import chosen
from shared import config
from shared.bootstrap.embeddings import meaning
from shared.domain import limits
from shared.ports import Embedder, Trust
from shared.recall.entries import Entry
from shared.recall.meaning import BATCH, Vector, blended, levelled, quantised, unit
from shared.recall.ranking import DEFAULT, rank, signals
from shared.recall.versions import BESIDE
from shared.text.tokens import query_terms

EMPTY: Final = {"EMBEDDING_MODEL": "", "EMBEDDING_LENGTH": "0", "EMBEDDING_URL": "", "EMBEDDING_API_KEY": ""}
FIXED: Final = {"EMBEDDING_SECRET_ARN": "", "EMBEDDING_MILLISECONDS": "20000"}
BEHIND: Final = 99


class Meant(Owner):
    """One user's memories, indexed with their vectors."""

    def found(self, question: Question, vector: Vector | None, trust: Trust | None, limit: int) -> list[str]:
        """Ids in the order in which `Searcher.find` finds them (shared/recall/search.py); by words alone without vector or trust."""
        if vector is None or trust is None:
            return self.ranked(question, DEFAULT, limit)
        query = query_terms(question.text, now=question.now)
        near = self._index.search(query).candidates(limits.CANDIDATES, vector=vector, floor=trust.floor)
        near = levelled(self._index, near, trust)
        now = question.now.timestamp()
        ranking = rank(signals(near, SCOPES), blended(DEFAULT, trust), now=now, limit=limit + BESIDE)
        return self._ordered(question, query, near, ranking, DEFAULT)[:limit]


class Asked:
    """The questions of a set with their vectors, and what answers them."""

    def __init__(self, embedder: Embedder, questions: Sequence[Question]) -> None:
        self.questions = questions
        started = time.perf_counter()
        self._vectors = {
            question: unit(embedder.query(question.text)) if embedder.serves(question.text) else None
            for question in questions
        }
        self.seconds = (time.perf_counter() - started) / len(questions)

    def of(self, owners: Mapping[str, Meant], trust: Trust | None, limit: int = DEPTH) -> Ranked:
        """What answers a question among these memories; without trust by words alone."""
        return lambda question: owners[question.user].found(question, self._vectors[question], trust, limit)


def embedded(embedder: Embedder, entries: Sequence[Entry]) -> list[Entry]:
    """The entries with their vectors."""
    made: list[Entry] = []
    for at in range(0, len(entries), BATCH):
        batch = entries[at : at + BATCH]
        vectors = embedder.documents([entry.text for entry in batch])
        made += [replace(entry, vector=quantised(vector)) for entry, vector in zip(batch, vectors, strict=True)]
    return made


def twins(stores: Store, questions: Sequence[Question], most: int) -> tuple[Store, dict[str, str]]:
    """An older twin with another word for the answers of so many questions, spread over all; and twin by answer."""
    rng, others = random.Random(7), words_and_pairs(stores)
    by_id = {entry.id: entry for entries in stores.values() for entry in entries}
    made: Store = {user: [] for user in stores}
    pairs: dict[str, str] = {}
    for question in questions[:: max(1, len(questions) // most)]:
        for name in sorted(question.relevant - pairs.keys()):
            twin = outdated(by_id[name], question.text, "changed", rng, others)
            if twin is not None:
                pairs[name] = twin.id
                made[question.user].append(twin)
    return made, pairs


def current_first(questions: Sequence[Question], pairs: Mapping[str, str], ranked: Ranked) -> float:
    """The share of answers before their outdated twin, of those of which one is among the first 20."""
    wins = met = 0
    for question in questions:
        wanted = question.relevant & pairs.keys()
        places = {name: place for place, name in enumerate(ranked(question))} if wanted else {}
        for name in wanted:
            current, older = places.get(name, BEHIND), places.get(pairs[name], BEHIND)
            met += min(current, older) < BEHIND
            wins += current < older
    return round(wins / max(met, 1), 4)


def measured(folder: Path, embedder: Embedder, trusts: Sequence[Trust], most_twins: int) -> Iterator[dict[str, Any]]:
    """Yield a line per trust."""
    stores, questions = read(folder)
    memories = sum(map(len, stores.values()))
    started = time.perf_counter()
    having = {user: embedded(embedder, entries) for user, entries in stores.items()}
    per_memory = (time.perf_counter() - started) / memories
    asked = Asked(embedder, questions)
    older, pairs = twins(stores, questions, most_twins)
    owners = {user: Meant(entries) for user, entries in having.items()}
    doubled = {user: Meant([*having[user], *embedded(embedder, entries)]) for user, entries in older.items()}

    def row(trust: Trust | None) -> dict[str, float]:
        first = current_first(questions, pairs, asked.of(doubled, trust, FIRST))
        return figures(questions, asked.of(owners, trust)) | {"current_first": first}

    words = row(None)
    for trust in trusts:
        yield {
            "set": folder.name,
            "model": embedder.name,
            "memories": memories,
            "queries": len(questions),
            "weight": trust.weight,
            "floor": trust.floor,
            "alike": trust.alike,
            "words": words,
            "words_and_meaning": row(trust),
            "ms_a_memory": round(per_memory * 1e3, 1),
            "ms_a_query": round(asked.seconds * 1e3, 1),
        }


def main() -> None:
    """Print a line per set and weight."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", choices=("local", "openai", "bedrock"), required=True, help="the provider")
    parser.add_argument("--weight", type=float, nargs="*", help="weights to try instead of the model's own")
    parser.add_argument("--floor", type=float)
    parser.add_argument("--alike", type=float)
    parser.add_argument("--twins", type=int, default=300, help="questions whose answers get an outdated twin")
    options = parser.parse_args()
    given = {name: value for name, value in os.environ.items() if value}
    os.environ.update({**EMPTY, **chosen({**given, "EMBEDDING_PROVIDER": options.model}), **FIXED})
    try:
        compared = meaning()
        sets = folders(options.data)
        assert compared is not None
        own = compared.embedder.trust
        own = replace(own, floor=options.floor or own.floor, alike=options.alike or own.alike)
        trusts = [replace(own, weight=weight) for weight in options.weight or [own.weight]]
        for folder in sets:
            for line in measured(folder, compared.embedder, trusts, options.twins):
                print(json.dumps(line), flush=True)
    except config.MissingSetting as missing:
        parser.error(f"set {missing.name}")
    except IllFormed as wrong:
        parser.error(str(wrong))


if __name__ == "__main__":
    main()
