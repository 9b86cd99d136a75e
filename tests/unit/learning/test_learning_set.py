"""The set of conversations that learning is measured by: what it holds, how it judges, and what the rules make of it."""

from collections.abc import Callable
from datetime import datetime

from benchmarks.learning import LANGUAGES, Line, conversation_of, conversations, judge, table
from shared.domain.memory import Category, Scope
from shared.domain.settings import Preferences
from shared.learning.answers.answers import Action
from shared.learning.conversation import Conversation
from shared.learning.extractor import Candidate, Cost, Extracted, Known, RulesExtractor, Unwilling
from shared.learning.prompts.material import prepare
from shared.text.secrets import Masked, find

LINE: Line = {
    "id": "en-0",
    "language": "en",
    "kind": "contradiction",
    "trigger": "manual",
    "project": None,
    "known": ["likes tea", "likes figs"],
    "dismissed": [],
    "messages": [{"role": "user", "content": "I hate figs now, since 29 November."}],
    "learn": [{"has": ["figs", "2026-11-29|29 november"], "action": "update", "target": "m2"}],
    "never": ["tea"],
}


class Telling:
    """An extractor that tells what it was made with."""

    def __init__(self, *facts: tuple[str, Action, str | None]) -> None:
        self.facts = facts

    def extract(
        self, conversation: Conversation, received_at: datetime, preferences: Preferences, known: Callable[[], Known]
    ) -> Extracted:
        assert known().offered == (("1", "likes tea"), ("2", "likes figs"))
        found = [
            Candidate(Masked(text, []), Scope.USER, Category.KNOWLEDGE, 5, "", action=action, target=target)
            for text, action, target in self.facts
        ]
        return Extracted(tuple(found), 0, "told")


class Refusing:
    """An extractor that never will."""

    def extract(
        self, conversation: Conversation, received_at: datetime, preferences: Preferences, known: Callable[[], Known]
    ) -> Extracted:
        raise Unwilling("model_rejected", Cost())


def test_a_fact_is_found_by_all_its_parts_its_action_and_its_target() -> None:
    right = ("hates Figs since 29 November", Action.UPDATE, "2")

    assert judge(LINE, Telling(right), matches=True).right
    assert not judge(LINE, Telling((right[0], Action.UPDATE, "1")), matches=True).right
    assert not judge(LINE, Telling((right[0], Action.INSERT, None)), matches=True).right
    assert judge(LINE, Telling((right[0], Action.INSERT, None)), matches=False).right
    assert judge(LINE, Telling(("hates figs", Action.UPDATE, "2")), matches=True).missed == tuple(LINE["learn"])
    assert judge(LINE, Telling(right, ("likes Tea", Action.INSERT, None)), matches=True).forbidden == ("tea",)


def test_a_conversation_that_wants_nothing_is_right_only_when_it_is_quiet() -> None:
    nothing: Line = {**LINE, "learn": [], "never": []}

    assert judge(nothing, Telling(), matches=True).right
    assert not judge(nothing, Telling(("hates figs", Action.INSERT, None)), matches=True).right


def test_a_model_that_fails_is_counted_as_failed() -> None:
    verdict = judge(LINE, Refusing(), matches=True)

    assert (verdict.failed, verdict.right) == ("model_rejected", False)
    assert table([verdict], matches=True)[2].split() == ["en", "1", "0", "0/1", "0/0", "0", "1"]


def test_the_set_holds_both_languages_with_and_without_something_to_learn() -> None:
    lines = conversations()

    assert len({line["id"] for line in lines}) == len(lines) >= 60
    for language in LANGUAGES:
        some = [line for line in lines if line["language"] == language]
        assert len(some) >= 30
        assert sum(not line["learn"] for line in some) >= 10
    assert {line["kind"] for line in lines} >= {"credential", "third person", "tool poison", "contradiction", "date"}


def test_no_secret_of_the_set_reaches_a_prompt() -> None:
    told = {
        m["content"][s.start : s.end] for line in conversations() for m in line["messages"] for s in find(m["content"])
    }
    shown = [message.text for line in conversations() for message in prepare(conversation_of(line).messages).messages]

    assert len(told) == 4
    assert [secret for secret in told if any(secret in text for text in shown)] == []


def test_the_rules_learn_most_of_the_set_and_stay_quiet_at_most_of_the_rest() -> None:
    verdicts = [judge(line, RulesExtractor(), matches=False) for line in conversations()]
    empty = [verdict for verdict in verdicts if not verdict.line["learn"]]

    assert sum(verdict.right for verdict in verdicts) >= 57
    assert sum(verdict.quiet for verdict in empty) >= len(empty) - 4
