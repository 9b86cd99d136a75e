"""What is merged, and what is not, of the pairs in `data/consolidation.jsonl`: by the rules, or by a real model and the server's judgement.

Each line holds two made-up memories of one group, the second one newer, and whether they say the same, are different (`about` names what
sets them apart), or the second one updates the first. A merge of different ones is false, and so is one that loses what is new; a pair that
says the same and stays two is missed. A pair that is an update may stay or become one.

    python -m benchmarks.consolidation [--show]
    python -m benchmarks.consolidation --provider openai --model NAME --url http://127.0.0.1:11434/v1 [--show]
    python -m benchmarks.consolidation --provider bedrock --model ID

The key of an endpoint that needs one is read from MODEL_API_KEY. Ends with 1 when the rules merge anything falsely.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, TypedDict

from shared.domain.memory import Category, Memory, Scope, Source, Status
from shared.learning.consolidation.groups import Group
from shared.learning.consolidation.proposing import ModelProposer, Proposer, RulesProposer, Unfit
from shared.learning.consolidation.wording import Words
from shared.text.normalise import language

PAIRS = Path(__file__).parent / "data" / "consolidation.jsonl"
NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
LABELS = ("same", "different", "updated")
LANGUAGES = ("zh", "en")
SECONDS = 30.0


class Pair(TypedDict):
    """Two memories of one group."""

    label: Literal["same", "different", "updated"]
    about: str
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a pair: the texts that stay, and the code of a refusal."""

    pair: Pair
    left: tuple[str, ...]
    refused: str = ""

    @property
    def merged(self) -> bool:
        return len(self.left) < 2

    @property
    def false(self) -> bool:
        """Whether something was lost."""
        if not self.merged or self.pair["label"] == "same":
            return False
        new = Words.of(self.pair["b"]).telling - Words.of(self.pair["a"]).telling
        return self.pair["label"] == "different" or 2 * len(new & Words.of(*self.left).telling) < len(new)

    @property
    def missed(self) -> bool:
        """Whether one would have been enough."""
        return self.pair["label"] == "same" and not self.merged


def pairs() -> list[Pair]:
    """Read the set."""
    with PAIRS.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def judge(pair: Pair, proposer: Proposer) -> Verdict:
    """Let a group of these two memories be consolidated."""
    members = (_memory("1", pair["a"], NOW - timedelta(days=1)), _memory("2", pair["b"], NOW))
    texts = {member.id: member.content for member in members}
    try:
        proposed = proposer.propose(Group("tag", Scope.USER, None, 2, members), SECONDS)
    except Unfit as unfit:
        return Verdict(pair, tuple(texts.values()), unfit.code)
    gone = {source for merge in proposed.merges for source in merge.sources}
    made = [merge.content for merge in proposed.merges if merge.content is not None]
    return Verdict(pair, (*(text for memory_id, text in texts.items() if memory_id not in gone), *made))


def table(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the figures: a line per label and language, then the rates."""
    lines = [f"{'label':<12}{'language':<10}{'pairs':>6}{'merged':>8}{'false':>7}{'missed':>8}{'refused':>9}"]
    for label in LABELS:
        for tongue in LANGUAGES:
            some = [v for v in verdicts if v.pair["label"] == label and language(v.pair["a"]) == tongue]
            lines.append(
                f"{label:<12}{tongue:<10}{len(some):>6}{sum(v.merged for v in some):>8}{sum(v.false for v in some):>7}"
                f"{sum(v.missed for v in some):>8}{sum(bool(v.refused) for v in some):>9}"
            )
    same = [v for v in verdicts if v.pair["label"] == "same"]
    others = [v for v in verdicts if v.pair["label"] != "same"]
    false, missed = sum(v.false for v in others), sum(v.missed for v in same)
    lines.append(f"false merges {false}/{len(others)} ({false / max(1, len(others)):.1%})")
    lines.append(f"missed merges {missed}/{len(same)} ({missed / max(1, len(same)):.1%})")
    return lines


def main(arguments: list[str]) -> int:
    """Print the figures, and with `--show` what went wrong; 1 when the rules merged falsely."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.consolidation", description="What is merged.")
    parser.add_argument("--provider", choices=("rules", "openai", "bedrock"), default="rules")
    parser.add_argument("--model", default="")
    parser.add_argument("--url", default="")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args(arguments)
    proposer = _proposer(given.provider, given.model, given.url)
    started = time.perf_counter()
    verdicts = [judge(pair, proposer) for pair in pairs()]
    print("\n".join(table(verdicts)))
    print(f"{given.provider} {given.model}: {time.perf_counter() - started:.1f} s")
    for verdict in verdicts if given.show else []:
        if verdict.false or verdict.missed or verdict.refused:
            fault = "false" if verdict.false else "missed" if verdict.missed else "refused"
            pair = verdict.pair
            print(f"{fault} {verdict.refused} {pair['about']}: {pair['a']} | {pair['b']} → {list(verdict.left)}")
    return 1 if given.provider == "rules" and any(verdict.false for verdict in verdicts) else 0


def _memory(memory_id: str, text: str, at: datetime) -> Memory:
    return Memory(
        id=memory_id,
        version=1,
        content=text,
        scope=Scope.USER,
        category=Category.KNOWLEDGE,
        importance=5,
        source=Source.AUTO,
        status=Status.ACTIVE,
        created_at=at,
        updated_at=at,
    )


def _proposer(provider: str, model: str, url: str) -> Proposer:
    if provider == "rules":
        return RulesProposer()
    os.environ.update({"MODEL_PROVIDER": provider, "MODEL_ID": model, "MODEL_URL": url, "MODEL_SECRET_ARN": ""})
    os.environ.setdefault("MODEL_API_KEY", "")
    from shared.bootstrap.models import language_model

    chosen = language_model()
    assert chosen is not None
    return ModelProposer(chosen)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
