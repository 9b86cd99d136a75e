"""An embedding model in this process: no text leaves it. The file is read when it is first needed, which takes some tenths of a second."""

import struct
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from typing import Final

from shared.adapters.embeddings import parts, trusted
from shared.adapters.multilingual_e5 import MultilingualE5
from shared.domain.asking import ModelRefused

MODEL: Final = "multilingual-e5-small"
LENGTH: Final = 384
CHARACTERS: Final = 2_000
"""Read of a memory; about as many as fill the model's 512 tokens."""
QUERY_CHARACTERS: Final = 400
"""Read of a query: what a model in this process can take in while a search waits."""
TEXTS: Final = 16


class LocalEmbedder:
    """multilingual-e5-small from a file; all scripts."""

    name: Final = f"local {MODEL} q4 {LENGTH}"
    trust: Final = trusted(MODEL)

    def __init__(self, path: Path) -> None:
        self._path = path
        self._model: MultilingualE5 | None = None
        self._lock = Lock()
        self._reader = Thread(target=self._read, name="embedding model", daemon=True)
        self._begun = Lock()

    def serves(self, query: str) -> bool:  # noqa: ARG002 - a hundred languages, both of ours measured
        """All scripts, once the file is read: the first query begins that and need not wait for it."""
        if self._model is None and self._begun.acquire(blocking=False):
            self._reader.start()
        return not self._reader.is_alive()

    def documents(self, texts: Sequence[str]) -> list[list[float]]:
        return [vector for run in parts(texts, TEXTS) for vector in self._embedded("passage: ", run, CHARACTERS)]

    def query(self, text: str) -> list[float]:
        return self._embedded("query: ", [text], QUERY_CHARACTERS)[0]

    def _embedded(self, role: str, texts: Sequence[str], most: int) -> list[list[float]]:
        found: list[list[float]] = self._opened().embed([role + text[:most] for text in texts]).tolist()
        return found

    def _read(self) -> None:
        with suppress(ModelRefused):
            self._opened()

    def _opened(self) -> MultilingualE5:
        with self._lock:
            if self._model is None:
                try:
                    self._model = MultilingualE5(self._path)
                except (OSError, ValueError, KeyError, struct.error):
                    raise ModelRefused from None
            return self._model
