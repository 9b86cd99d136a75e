"""Common lexical search over the same sets: SQLite's FTS5 with the best of its tokenizers for the set, and bm25s with stop words, Snowball
stems, and pairs and single characters of Han.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any, Final

import snowballstemmer

from benchmarks.retrieval_product import DEPTH, Figures, Ranked, figures
from benchmarks.retrieval_sets import Question, Store
from shared.recall.index import Entry

INSTALL: Final = "python -m pip install -r benchmarks/requirements-peers.txt"
TOKENIZERS: Final = ("unicode61", "porter", "trigram")

_HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff"
_RUN: Final = re.compile(rf"[{_HAN}]+|[^\W{_HAN}]+")


class Missing(Exception):
    """A library to compare with is not installed; the message says how to."""


def library(name: str) -> Any:
    """Import a library of requirements-peers.txt. Raises Missing."""
    try:
        return import_module(name)
    except ImportError as error:
        raise Missing(f"{name} is not installed: {INSTALL}") from error


def fts5(stores: Store, questions: Sequence[Question]) -> Iterator[tuple[str, Figures]]:
    """Name and figures of the tokenizer of the highest nDCG@10; a query asks for any of its words, or triples of characters."""
    measured = {name: figures(questions, _fts5(stores, name)) for name in TOKENIZERS}
    best = max(TOKENIZERS, key=lambda name: measured[name]["ndcg@10"])
    yield f"SQLite FTS5, {best}", measured[best]


def _fts5(stores: Store, tokenizer: str) -> Ranked:
    found: dict[str, sqlite3.Connection] = {}
    for user, entries in stores.items():
        database = found[user] = sqlite3.connect(":memory:")
        database.execute(f"CREATE VIRTUAL TABLE memories USING fts5(id UNINDEXED, text, tokenize='{tokenizer}')")
        database.executemany("INSERT INTO memories VALUES (?, ?)", ((entry.id, entry.text) for entry in entries))
    ask = "SELECT id FROM memories WHERE memories MATCH ? ORDER BY bm25(memories) LIMIT ?"

    def ranked(question: Question) -> list[str]:
        words = _triples(question.text) if tokenizer == "trigram" else re.findall(r"\w+", question.text)
        wanted = " OR ".join(f'"{word}"' for word in dict.fromkeys(words))
        return [name for (name,) in found[question.user].execute(ask, (wanted, DEPTH))] if wanted else []

    return ranked


def _triples(text: str) -> list[str]:
    runs: list[str] = re.findall(r"\w+", text)
    return [run[at : at + 3] for run in runs for at in range(len(run) - 2)]


def bm25s(stores: Store, questions: Sequence[Question]) -> Iterator[tuple[str, Figures]]:
    """Name and figures of bm25s as its documentation advises."""
    yield "bm25s, stop words + Snowball, Han pairs + characters", figures(questions, _bm25s(stores))


def _bm25s(stores: Store) -> Ranked:
    module = library("bm25s")
    stop = frozenset(library("bm25s.stopwords").STOPWORDS_EN_PLUS)
    stem = snowballstemmer.stemmer("english").stemWord

    def words(text: str) -> list[str]:
        found: list[str] = []
        for run in _RUN.findall(text.casefold()):
            if "\u3400" <= run[0] <= "\u9fff":
                found += [*run, *map("".join, pairwise(run))]
            elif run not in stop:
                found.append(stem(run))
        return found

    def indexed(entries: Sequence[Entry]) -> Any:
        index = module.BM25()
        index.index([words(entry.text) or [""] for entry in entries], show_progress=False)
        return index

    indexes = {user: indexed(entries) for user, entries in stores.items()}

    def ranked(question: Question) -> list[str]:
        entries, asked = stores[question.user], words(question.text)
        if not asked:
            return []
        places, scores = indexes[question.user].retrieve([asked], k=min(DEPTH, len(entries)), show_progress=False)
        return [entries[place].id for place, score in zip(places[0], scores[0], strict=True) if score > 0]

    return ranked


BASELINES: Final[Mapping[str, Callable[[Store, Sequence[Question]], Iterator[tuple[str, Figures]]]]] = {
    "bm25s": bm25s,
    "fts5": fts5,
}
