"""Precision and recall of the secret detector over the labelled sentences in `data/secrets.jsonl`.

A marked value counts as found when one detected span covers it; a detected span that touches no marked value is a false
alarm. Half of the sentences ("tune") were used while the patterns were written, the other half ("held_out") were not.
Run: `python -m benchmarks.secrets [--show]`; `--show` prints the sentences that went wrong (all values are made up).
"""

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypedDict

from shared.text import secrets

LABELLED = Path(__file__).parent / "data" / "secrets.jsonl"

Span = tuple[int, int]


class Sentence(TypedDict):
    """One line of the data: `secrets` holds [start, end] of every value in `text`."""

    text: str
    language: str
    split: str
    secrets: list[list[int]]


class Score(NamedTuple):
    """Counts over some sentences: values found, values missed, false alarms."""

    found: int
    missed: int
    false_alarms: int

    @property
    def precision(self) -> float:
        """Found over everything that was reported; 1 when nothing was reported."""
        reported = self.found + self.false_alarms
        return self.found / reported if reported else 1.0

    @property
    def recall(self) -> float:
        """Found over everything that was marked; 1 when nothing was marked."""
        marked = self.found + self.missed
        return self.found / marked if marked else 1.0


def labelled() -> list[Sentence]:
    """Read the labelled sentences."""
    with LABELLED.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def detected(text: str) -> list[Span]:
    """The spans that Nacre's own detector reports."""
    return [(secret.start, secret.end) for secret in secrets.find(text)]


def judge(sentence: Sentence, spans: Iterable[Span]) -> Score:
    """Score one sentence's spans against its marks."""
    marks = [(start, end) for start, end in sentence["secrets"]]
    reported = list(spans)
    found = sum(any(start <= first and last <= end for start, end in reported) for first, last in marks)
    false_alarms = sum(not any(start < last and first < end for first, last in marks) for start, end in reported)
    return Score(found, len(marks) - found, false_alarms)


def score(sentences: Sequence[Sentence], detect: Callable[[str], list[Span]] = detected) -> Score:
    """Add the scores of the sentences up."""
    parts = [judge(sentence, detect(sentence["text"])) for sentence in sentences]
    return Score(*(sum(column) for column in zip(*parts, strict=True)))


def main(arguments: Sequence[str]) -> None:
    """Print one line per split and language, then the time a sentence takes."""
    everything = labelled()
    print(f"{'split':<10}{'language':<10}{'sentences':>10}{'precision':>11}{'recall':>9}{'missed':>8}{'false':>7}")
    for split in ("tune", "held_out"):
        for language in ("zh", "en"):
            some = [line for line in everything if (line["split"], line["language"]) == (split, language)]
            total = score(some)
            print(
                f"{split:<10}{language:<10}{len(some):>10}{total.precision:>11.3f}{total.recall:>9.3f}"
                f"{total.missed:>8}{total.false_alarms:>7}"
            )
    if "--show" in arguments:
        for line in everything:
            part = judge(line, detected(line["text"]))
            if part.missed or part.false_alarms:
                print(
                    f"{line['split']} {part.missed} missed, {part.false_alarms} false: {line['text']!r} {detected(line['text'])}"
                )
    started = time.process_time()
    for line in everything:
        secrets.find(line["text"])
    print(f"{(time.process_time() - started) / len(everything) * 1e6:.0f} µs of CPU per sentence")


if __name__ == "__main__":
    main(sys.argv[1:])
