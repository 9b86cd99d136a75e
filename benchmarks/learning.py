"""What is learned, and what is not, of the made-up conversations in `data/learning.jsonl`: by the rules, or by a real model.

Each line says which facts must be learned (all parts of one of them in one fact, `a|b` meaning either), with which action on which known
memory, and which words no fact may hold. A conversation of which nothing should be learned is quiet when nothing was.

    python -m benchmarks.learning [--show]
    python -m benchmarks.learning --provider openai --model NAME --url http://127.0.0.1:11434/v1 [--show]
    python -m benchmarks.learning --provider bedrock --model ID

The key of an endpoint that needs one is read from MODEL_API_KEY. `--show` prints what went wrong; all texts are made up.
"""

import argparse
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NotRequired, TypedDict

from shared.domain.errors import Unavailable
from shared.domain.settings import Preferences
from shared.domain.task import Trigger
from shared.domain.times import moment
from shared.learning.conversation import Conversation, Message
from shared.learning.extractor import Candidate, Extractor, Known, RulesExtractor, Unwilling
from shared.learning.model_extractor import ModelExtractor

CONVERSATIONS = Path(__file__).parent / "data" / "learning.jsonl"
NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
LANGUAGES = ("zh", "en")


class Said(TypedDict):
    role: str
    content: str
    at: NotRequired[str]


class Wanted(TypedDict):
    """One fact that must be learned."""

    has: list[str]
    action: NotRequired[str]
    target: NotRequired[str]


class Line(TypedDict):
    """One conversation of the set. `known` memories are offered as m1, m2, … in their order."""

    id: str
    language: str
    kind: str
    trigger: str
    project: str | None
    known: list[str]
    dismissed: list[str]
    messages: list[Said]
    learn: list[Wanted]
    never: list[str]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one conversation: wanted facts found and missed, forbidden words in facts, facts where none was wanted."""

    line: Line
    texts: tuple[str, ...]
    missed: tuple[Wanted, ...]
    forbidden: tuple[str, ...]
    failed: str = ""

    @property
    def quiet(self) -> bool:
        """Whether nothing was learned."""
        return not self.texts

    @property
    def right(self) -> bool:
        """Whether all of it is as it should be."""
        wanted = bool(self.line["learn"])
        return not (self.missed or self.forbidden or self.failed) and (wanted or self.quiet)


def conversations() -> list[Line]:
    """Read the set."""
    with CONVERSATIONS.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def conversation_of(line: Line) -> Conversation:
    """Return a line's conversation as a client would hand it in."""
    messages = tuple(Message(m["role"], m["content"], moment(m["at"]) if "at" in m else None) for m in line["messages"])
    return Conversation(messages, Trigger(line["trigger"]), line["project"])


def judge(line: Line, extractor: Extractor, *, matches: bool) -> Verdict:
    """Learn from one conversation. Without `matches` no action is asked for: the rules compare with nothing."""
    conversation = conversation_of(line)
    known = Known(tuple((str(at), text) for at, text in enumerate(line["known"], 1)), tuple(line["dismissed"]))
    try:
        extracted = extractor.extract(conversation, NOW, Preferences(), lambda: known)
    except (Unavailable, Unwilling) as fault:
        return Verdict(line, (), tuple(line["learn"]), (), fault.code)
    wanted = [one for one in line["learn"] if matches or one["has"]]
    texts = tuple(candidate.masked.text for candidate in extracted.candidates)
    everything = "\n".join(texts).casefold()
    return Verdict(
        line=line,
        texts=texts,
        missed=tuple(w for w in wanted if not any(_is(one, w, matches=matches) for one in extracted.candidates)),
        forbidden=tuple(words for words in line["never"] if words.casefold() in everything),
    )


def table(verdicts: Sequence[Verdict], *, matches: bool) -> list[str]:
    """Return the figures, one line per language."""
    lines = [
        f"{'language':<10}{'conversations':>14}{'all right':>11}{'learned':>9}{'quiet':>9}{'forbidden':>11}{'failed':>8}"
    ]
    for language in LANGUAGES:
        some = [verdict for verdict in verdicts if verdict.line["language"] == language]
        wanted = sum(len([w for w in one.line["learn"] if matches or w["has"]]) for one in some)
        missed = sum(len(one.missed) for one in some)
        empty = [one for one in some if not one.line["learn"]]
        lines.append(
            f"{language:<10}{len(some):>14}{sum(one.right for one in some):>11}{f'{wanted - missed}/{wanted}':>9}"
            f"{f'{sum(one.quiet for one in empty)}/{len(empty)}':>9}{sum(len(one.forbidden) for one in some):>11}"
            f"{sum(bool(one.failed) for one in some):>8}"
        )
    return lines


def main() -> None:
    """Print the figures, and with `--show` what went wrong."""
    parser = argparse.ArgumentParser(description="What is learned and what is not.")
    parser.add_argument("--provider", choices=("rules", "openai", "bedrock"), default="rules")
    parser.add_argument("--model", default="")
    parser.add_argument("--url", default="")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    extractor = _extractor(given.provider, given.model, given.url)
    matches = given.provider != "rules"
    started = time.perf_counter()
    verdicts = [judge(line, extractor, matches=matches) for line in conversations()]
    print("\n".join(table(verdicts, matches=matches)))
    print(f"{given.provider} {given.model}: {time.perf_counter() - started:.1f} s")
    for verdict in verdicts if given.show else []:
        if not verdict.right:
            line = verdict.line
            print(f"{line['id']} {line['kind']}: learned {list(verdict.texts)}")
            print(
                f"    missed {[w['has'] for w in verdict.missed]} forbidden {list(verdict.forbidden)} {verdict.failed}"
            )


def _is(candidate: Candidate, wanted: Wanted, *, matches: bool) -> bool:
    text = candidate.masked.text.casefold()
    if not all(any(word.casefold() in text for word in part.split("|")) for part in wanted["has"]):
        return False
    if not matches or "action" not in wanted:
        return True
    return candidate.action == wanted["action"] and candidate.target == wanted.get("target", "").removeprefix("m")


def _extractor(provider: str, model: str, url: str) -> Extractor:
    if provider == "rules":
        return RulesExtractor()
    os.environ.update({"MODEL_PROVIDER": provider, "MODEL_ID": model, "MODEL_URL": url, "MODEL_SECRET_ARN": ""})
    os.environ.setdefault("MODEL_API_KEY", "")
    from shared.bootstrap.models import language_model

    chosen = language_model()
    assert chosen is not None
    return ModelExtractor(chosen, time.monotonic)


if __name__ == "__main__":
    main()
