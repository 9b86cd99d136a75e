"""How long others take to add a memory and to find it, on the same texts, in this process, offline.

Ours is the whole use case (sealing, journal, transaction, index, ranking, counting) over ports in memory. LangGraph's is its InMemoryStore;
mem0's its Memory with an on-disk Qdrant, `infer=False` (no language model). Both get the same free embedding, hashed words, so that no
model's time is in the figures.
"""

import math
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

from benchmarks.retrieval_baselines import library
from benchmarks.retrieval_sets import Question, Store
from tests.builders import World

MEMORIES: Final = 300
QUESTIONS: Final = 100
LENGTH: Final = 256
FOUND: Final = 10


@dataclass(frozen=True, slots=True)
class Spent:
    """Milliseconds of wall time for each memory added and each query answered."""

    add: float
    search: float


class Hashed:
    """An embedding that costs next to nothing: words counted at hashed places."""

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """A unit vector of `LENGTH`; `memory_action` is mem0's and ignored."""
        del memory_action
        vector = [0.0] * LENGTH
        for word in text.casefold().split():
            vector[int.from_bytes(blake2b(word.encode(), digest_size=2).digest(), "big") % LENGTH] += 1.0
        norm = math.sqrt(sum(value * value for value in vector)) or 1.0
        return [value / norm for value in vector]

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        """A vector of each text."""
        return [self.embed(text, memory_action) for text in texts]


Does = Callable[[str], object]


def compared(stores: Store, questions: Sequence[Question], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """One line per system: milliseconds per memory added and per query, and how many times ours that is. Raises Missing."""
    user = max(stores, key=lambda one: len(stores[one]))
    texts = list(dict.fromkeys(entry.text for entry in stores[user]))[:MEMORIES]
    queries = [question.text for question in questions if question.user == user][:QUESTIONS]
    ours = _nacre(texts, queries)
    for name, spent in (("nacre", ours), *((name, PEERS[name](texts, queries)) for name in names)):
        yield {
            "system": name,
            "memories": len(texts),
            "queries": len(queries),
            "add_ms": round(spent.add, 3),
            "search_ms": round(spent.search, 3),
            "add_times_ours": round(spent.add / ours.add, 2),
            "search_times_ours": round(spent.search / ours.search, 2),
        }


def _nacre(texts: Sequence[str], queries: Sequence[str]) -> Spent:
    world = World()
    return _timed(texts, queries, world.add, lambda query: world.found(query, limit=FOUND), world.build)


def _langgraph(texts: Sequence[str], queries: Sequence[str]) -> Spent:
    index = {"embed": Hashed().embed_batch, "dims": LENGTH, "fields": ["text"]}
    store = library("langgraph.store.memory").InMemoryStore(index=index)
    return _timed(
        texts,
        queries,
        lambda text: store.put(("ann",), str(hash(text)), {"text": text}),
        lambda query: store.search(("ann",), query=query, limit=FOUND),
    )


def _mem0(texts: Sequence[str], queries: Sequence[str]) -> Spent:
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=folder)
        memory = library("mem0").Memory.from_config(_mem0_config(folder))
        memory.embedding_model = Hashed()
        spent = _timed(
            texts,
            queries,
            lambda text: memory.add(text, user_id="ann", infer=False),
            lambda query: memory.search(query, filters={"user_id": "ann"}, top_k=FOUND),
        )
        memory.vector_store.client.close()
        return spent


def _mem0_config(folder: str) -> dict[str, Any]:
    """Everything local. The two models are built and never asked: nobody listens at that address."""
    nobody = {"api_key": "none", "openai_base_url": "http://127.0.0.1:9/v1"}
    place = {"path": f"{folder}/qdrant", "on_disk": True, "embedding_model_dims": LENGTH, "collection_name": "memories"}
    return {
        "vector_store": {"provider": "qdrant", "config": place},
        "embedder": {"provider": "openai", "config": nobody | {"embedding_dims": LENGTH}},
        "llm": {"provider": "openai", "config": nobody},
        "history_db_path": f"{folder}/history.db",
    }


def _timed(
    texts: Sequence[str], queries: Sequence[str], add: Does, find: Does, ready: Callable[[], object] = lambda: None
) -> Spent:
    started = time.perf_counter()
    for text in texts:
        add(text)
    ready()
    added = time.perf_counter()
    for query in queries:
        find(query)
    return Spent((added - started) * 1e3 / len(texts), (time.perf_counter() - added) * 1e3 / len(queries))


PEERS: Final[Mapping[str, Callable[[Sequence[str], Sequence[str]], Spent]]] = {"mem0": _mem0, "langgraph": _langgraph}
