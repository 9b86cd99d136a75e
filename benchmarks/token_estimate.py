"""Our estimate of tokens beside what the tokenizers of five model families count, for the lines and the whole texts of contexts.

    .venv/bin/pip install --no-deps -r benchmarks/requirements-tokenizers.txt      (250 MB)
    python -m benchmarks.token_estimate [--texts FILE.jsonl …]
    python -m benchmarks.token_estimate --record

One JSON line for each kind of text: the estimate of all its lines ÷ their tokens by the tokenizer that counts most (`high`), by each
tokenizer, the lowest such ratio of a single line (`worst_line`) and of a whole context (`worst_context`). Ends with 1 when a ratio is below
0.9. The texts are made up and stand in `data/token_counts.jsonl`, one `{"kind","text","tokens"}` a line; `--record` writes down there
what is counted, and a test holds the estimate to it without any tokenizer. `--texts` adds files of `{"text"}`, such as retrieval sets.
"""

import argparse
import base64
import importlib
import importlib.util
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Final, NamedTuple

from shared.recall.estimate import estimated_tokens
from shared.recall.framing import Line, Section, packed

COUNTS: Final = Path(__file__).parent / "data" / "token_counts.jsonl"
LOWEST: Final = 0.9
DAY: Final = date(2026, 11, 30)
LINES: Final = 28
"""Of a whole context: as many memories as one holds."""
Tokenizer = Callable[[str], int]

_CONTRACTED = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_CL100K = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
_O200K = "|".join(
    (
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]*[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]+{_CONTRACTED}?",
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]+[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]*{_CONTRACTED}?",
        r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    )
)
_QWEN = rf"{_CONTRACTED}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


class Text(NamedTuple):
    """One text of a kind; `tokens` by tokenizer, of its line in a context or, of kind `context`, of itself."""

    kind: str
    text: str
    tokens: Mapping[str, int]

    @property
    def told(self) -> str:
        """What is counted, with the end of its line."""
        return f"{self.text}\n" if self.kind == "context" else f"{line(self.text)}\n"


def line(text: str) -> str:
    """Return the line of a context that holds a text alone."""
    return packed([Section("user", (Line(text, DAY),))], 1_000_000, "en").text.split("\n")[3]


def estimate(told: str) -> int:
    """Return our estimate of lines that all have their end."""
    return sum(map(estimated_tokens, told.removesuffix("\n").split("\n")))


def read(path: Path) -> list[Text]:
    """Read texts; those of other files get the file's folder as their kind."""
    rows = [json.loads(row) for row in path.read_text("utf-8").split("\n") if row]
    return [Text(row.get("kind", path.parent.name), row["text"], row.get("tokens", {})) for row in rows]


def tokenizers() -> dict[str, Tokenizer]:
    """Return the tokenizers, by name: of GPT-4, GPT-4o and later, Qwen, an early Claude, DeepSeek. Their data comes inside packages."""
    tiktoken, loaders = importlib.import_module("tiktoken"), importlib.import_module("tokenizers")
    files = _inside("litellm") / "litellm_core_utils" / "tokenizers"

    def ranked(path: Path, pattern: str) -> Tokenizer:
        pairs = (row.split() for row in path.read_bytes().split(b"\n") if row)
        ranks = {base64.b64decode(token): int(rank) for token, rank in pairs}
        encoding = tiktoken.Encoding(path.name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        return lambda text: len(encoding.encode_ordinary(text))

    def described(path: Path) -> Tokenizer:
        loaded = loaders.Tokenizer.from_file(str(path))
        return lambda text: len(loaded.encode(text, add_special_tokens=False).ids)

    return {
        "cl100k": ranked(files / "9b5ad71b2ce5302211f9c61530b329a4922fc6a4", _CL100K),
        "o200k": ranked(files / "fb374d419588a4632f3f557e76b4b70aebbca790", _O200K),
        "qwen": ranked(_inside("dashscope") / "resources" / "qwen.tiktoken", _QWEN),
        "claude": described(files / "anthropic_tokenizer.json"),
        "deepseek": described(files / "deepseek_tokenizer.json"),
    }


def _inside(package: str) -> Path:
    """Return a package's folder without importing it."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(package)
    return Path(found.origin).parent


def contexts(texts: Sequence[Text]) -> list[str]:
    """Return whole contexts of so many of these texts each, of one language's frame by turns."""
    made: list[str] = []
    for begin in range(0, len(texts), LINES):
        lines = tuple(Line(one.text, DAY) for one in texts[begin : begin + LINES])
        made.append(packed([Section("user", lines)], 1_000_000, ("en", "zh")[len(made) % 2]).text)
    return made


def report(kind: str, texts: Sequence[Text], counting: Mapping[str, Tokenizer]) -> dict[str, Any]:
    """Compare the texts of one kind, in lines and in whole contexts."""
    whole = [
        Text("context", text, {}) for text in ([one.text for one in texts] if kind == "context" else contexts(texts))
    ]
    lines = whole if kind == "context" else texts
    estimates = [estimate(one.told) for one in lines]
    counts = {name: [count(one.told) for one in lines] for name, count in counting.items()}
    most = [max(column) for column in zip(*counts.values(), strict=True)]
    return {
        "kind": kind,
        "texts": len(texts),
        "high": round(sum(estimates) / sum(most), 2),
        **{name: round(sum(estimates) / sum(column), 2) for name, column in counts.items()},
        "worst_line": round(min(ours / theirs for ours, theirs in zip(estimates, most, strict=True)), 3),
        "worst_context": round(
            min(estimate(one.told) / max(count(one.told) for count in counting.values()) for one in whole), 3
        ),
    }


def record(texts: Sequence[Text], counting: Mapping[str, Tokenizer]) -> None:
    """Write down what is counted, lines first, then one whole context of every kind."""
    lines = [one for one in texts if one.kind != "context"]
    by_kind = {kind: [one for one in lines if one.kind == kind] for kind in dict.fromkeys(one.kind for one in lines)}
    whole = [Text("context", text, {}) for some in by_kind.values() for text in contexts(some)[:1]]
    rows = [
        one._replace(tokens={name: count(one.told) for name, count in counting.items()})._asdict()
        for one in (*lines, *whole)
    ]
    COUNTS.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def main() -> int:
    """Print the comparison, or record it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.token_estimate", description=__doc__)
    parser.add_argument("--record", action="store_true", help="write the counts into the data file")
    parser.add_argument("--texts", nargs="*", type=Path, default=[], help="more texts: files of JSON lines with a text")
    chosen = parser.parse_args()
    try:
        counting = tokenizers()
    except ModuleNotFoundError as missing:
        print(f"{missing}: pip install --no-deps -r benchmarks/requirements-tokenizers.txt", file=sys.stderr)
        return 2
    texts = read(COUNTS)
    if chosen.record:
        record(texts, counting)
        return 0
    texts += [text for path in chosen.texts for text in read(path)]
    lowest = 1.0
    for kind in dict.fromkeys(one.kind for one in texts):
        found = report(kind, [one for one in texts if one.kind == kind], counting)
        lowest = min(lowest, found["worst_line"], found["worst_context"])
        print(json.dumps(found))
    return int(lowest < LOWEST)


if __name__ == "__main__":
    sys.exit(main())
