"""Precision, recall and F1 of the decision whether a message needs memories, over the labelled messages in `data/intent.jsonl`.

Each message is judged as one in the middle of a session. "recall" is the decision itself: strong, weak or identity. The messages
were written in rounds and the tables widened after each: rounds 7 to 10 are "held_out", 11 and 12 "after_review"; the last one, which no
table was widened for, is "unseen" (docs/decisions/intent.md has the figures of each round's first meeting). Run:
`python -m benchmarks.intent`; ends with 1 when precision or recall of the decision is under 0.95 in a language of any but the unseen ones.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, NotRequired, TypedDict

from shared.text.intent import Decision, decide

LABELLED = Path(__file__).parent / "data" / "intent.jsonl"
SPLITS = ("tune", "held_out", "after_review")
"""Those that must keep the bound."""
UNSEEN = "unseen"
"""What new messages score: no bound, or the tables would be made for them."""
LANGUAGES = ("zh", "en")
RECALLED = ("strong", "weak", "identity")
KINDS = (*RECALLED, "excluded", "none")
BOUND = 0.95


class Message(TypedDict):
    """One line of the data. `query_class` only where the class of the question is beyond doubt."""

    text: str
    language: str
    kind: str
    round: int
    split: str
    query_class: NotRequired[str]


class Score(NamedTuple):
    """Counts of one kind over some messages: rightly told, wrongly told, missed."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        """Right over everything that was told; 1 when nothing was told."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """Right over everything that was labelled so; 1 when nothing was."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of both."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def labelled() -> list[Message]:
    """Read the labelled messages."""
    with LABELLED.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def decided(text: str) -> Decision:
    """What Nacre decides within a session, without words of an owner."""
    return decide(text, new_session=False)


def kind_of(decision: Decision) -> str:
    """The kind in the words of the labels: a question about the person is a kind of its own."""
    return "identity" if decision.broad else decision.kind


def score(messages: Sequence[Message], kinds: Sequence[str], judge: Callable[[str], Decision] = decided) -> Score:
    """Count over the messages how often one of the kinds was told and labelled."""
    pairs = [(kind_of(judge(message["text"])) in kinds, message["kind"] in kinds) for message in messages]
    return Score(pairs.count((True, True)), pairs.count((True, False)), pairs.count((False, True)))


def classes_right(messages: Sequence[Message]) -> tuple[int, int]:
    """How many classes of question were told as labelled, and how many are labelled."""
    wanted = [message for message in messages if "query_class" in message]
    return sum(decided(message["text"]).query_class == message["query_class"] for message in wanted), len(wanted)


def report(everything: Sequence[Message]) -> bool:
    """Print the table and return whether the bound holds everywhere."""
    within = True
    print(f"{'split':<14}{'language':<10}{'kind':<10}{'messages':>9}{'precision':>11}{'recall':>8}{'F1':>8}")
    for split in (*SPLITS, UNSEEN):
        for language in LANGUAGES:
            some = [line for line in everything if (line["split"], line["language"]) == (split, language)]
            for name, kinds in [("recall", RECALLED), *((kind, (kind,)) for kind in KINDS)]:
                one = score(some, kinds)
                count = sum(line["kind"] in kinds for line in some)
                print(
                    f"{split:<14}{language:<10}{name:<10}{count:>9}{one.precision:>11.3f}{one.recall:>8.3f}{one.f1:>8.3f}"
                )
                bound = name == "recall" and split != UNSEEN
                within = within and (not bound or min(one.precision, one.recall) >= BOUND)
            right, wanted = classes_right(some)
            print(f"{split:<14}{language:<10}{'class':<10}{wanted:>9}{right:>8} right")
    return within


def main() -> int:
    """Print the figures, the misses and the time a message takes."""
    everything = labelled()
    within = report(everything)
    for line in everything:
        decision = decided(line["text"])
        if kind_of(decision) != line["kind"]:
            words = ", ".join(decision.signals) or decision.reason
            print(f"{line['split']}: {line['kind']} taken for {kind_of(decision)} ({words}): {line['text'][-80:]!r}")
    started = time.process_time()
    for line in everything:
        decided(line["text"])
    print(f"{(time.process_time() - started) / len(everything) * 1e6:.0f} µs of CPU per message")
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
