"""A file in the form of the local embedding model's, small enough to be made by a test: two layers, 25 pieces, numbers from a seed."""

import struct
from pathlib import Path

import numpy as np

LENGTH, LAYERS, HEADS, WIDE, MOST = 32, 2, 2, 64, 24
PIECES = (
    "<s>", "<pad>", "</s>", "<unk>", "\u2581", "\u2581query", "\u2581passage", ":", "\u2581tea", "\u2581te", "a", "e", "t",
    "s", "q", "u", "r", "y", "茶", "喝茶", "喝", "我", "\u2581我", "fi", "p",
)  # fmt: skip
FOLDED = {0x0A: " ", 0x2014: "-", 0xFDFA: "صلى الله عليه وسلم"}
"""The last is one character that becomes eighteen."""


def write(path: Path, seed: int = 7) -> Path:
    """Write the file and return its path."""
    rng = np.random.default_rng(seed)
    head = b"E5S1" + struct.pack("<I", 1)
    head += struct.pack("<7ifi", LENGTH, LAYERS, HEADS, WIDE, len(PIECES), MOST, 1, 1e-12, 32)
    head += _vocabulary()
    names = ["emb.word", "emb.pos", "emb.type", "emb.ln.w", "emb.ln.b"]
    bodies = [_quarter(rng, len(PIECES), LENGTH), _whole(rng, MOST, LENGTH), _whole(rng, 1, LENGTH)]
    bodies += [_whole(rng, 1, LENGTH, 1.0), _whole(rng, 1, LENGTH)]
    shapes = {
        "q": (LENGTH, LENGTH), "k": (LENGTH, LENGTH), "v": (LENGTH, LENGTH), "ao": (LENGTH, LENGTH), "fi": (WIDE, LENGTH),
        "fo": (LENGTH, WIDE),
    }  # fmt: skip
    for layer in range(LAYERS):
        for name, (rows, columns) in shapes.items():
            names += [f"l{layer}.{name}.w", f"l{layer}.{name}.b"]
            bodies += [_quarter(rng, rows, columns), _whole(rng, 1, rows)]
        for name in ("aln", "oln"):
            names += [f"l{layer}.{name}.w", f"l{layer}.{name}.b"]
            bodies += [_whole(rng, 1, LENGTH, 1.0), _whole(rng, 1, LENGTH)]
    path.write_bytes(_laid_out(head, names, bodies))
    return path


def _vocabulary() -> bytes:
    encoded = [piece.encode() for piece in PIECES]
    offsets = np.cumsum([0, *map(len, encoded)]).astype("<u4")
    scores = np.array([-1.0 - 0.25 * place for place in range(len(PIECES))], "<f4")
    folds = b"".join(
        struct.pack(f"<IB{len(text)}I", character, len(text), *map(ord, text)) for character, text in FOLDED.items()
    )
    blob = b"".join(encoded)
    begin, end, pad, unknown = (PIECES.index(name) for name in ("<s>", "</s>", "<pad>", "<unk>"))
    counts = struct.pack("<5iQ", len(PIECES), begin, end, pad, unknown, len(blob))
    return counts + offsets.tobytes() + scores.tobytes() + blob + struct.pack("<iI", len(FOLDED), len(folds)) + folds


def _quarter(rng: np.random.Generator, rows: int, columns: int) -> bytes:
    """Blocks of 32 weights of 4 bits: the scale, then pairs of nibbles."""
    blocks = rows * columns // 32
    scales = rng.uniform(0.01, 0.06, blocks).astype("<f2").view(np.uint8).reshape(blocks, 2)
    blocked = np.concatenate([scales, rng.integers(0, 256, (blocks, 16), np.uint8)], axis=1)
    return bytes(blocked.tobytes())


def _whole(rng: np.random.Generator, rows: int, columns: int, around: float = 0.0) -> bytes:
    return bytes((around + 0.2 * rng.standard_normal((rows, columns))).astype("<f4").tobytes())


def _laid_out(head: bytes, names: list[str], bodies: list[bytes]) -> bytes:
    size = len(head) + 4 + sum(2 + len(name) + 21 for name in names)
    at = -(-size // 64) * 64
    directory, packed = struct.pack("<i", len(names)), b""
    for name, body in zip(names, bodies, strict=True):
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", 0, len(body), at + len(packed), len(body))
        packed += body + bytes(-len(body) % 64)
    return (head + directory).ljust(at, b"\0") + packed
