"""Whether a message needs memories, and which kind of them. The words stand in `data/intent.json`.

Looked at in this order: the owner's excluded words, a change of topic (in a clause without a strong signal), the owner's custom words,
questions about wording ("how do you say …"), questions about the person, strong signals (unless an aside such as "by the way" comes
before; one about the person counts after it, too), weak ones. Times and pointers of a message about the world count for nothing
(`intent_world`). A message without any signal needs memories only at the start of a session.
"""

from typing import Literal, NamedTuple, cast, get_args

from shared.text import clauses, intent_world, keywords
from shared.text.intent_words import Found, QueryClass, tables
from shared.text.keywords import Words
from shared.text.normalise import has_han

Kind = Literal["strong", "weak", "none", "excluded"]
Recall = Literal["yes", "if_good", "no"]
Reason = Literal[
    "signal_custom",
    "signal_person",
    "signal_continuation",
    "signal_time",
    "signal_preference",
    "signal_project",
    "signal_pointer",
    "excluded_word",
    "topic_change",
    "aside",
    "session_start",
    "no_signal",
]
REASONS: tuple[Reason, ...] = get_args(Reason)
"""Every reason of a decision."""
SIGNALS = 8
"""Words named by a decision at most."""
_SUBJECT = "咱们"
"""Who changes the topic, where this stands in the clause (咱们换个话题); any other signal there says what is changed."""
_NEAR = 6
"""Words before a pronoun at most, for it to point at something outside of its message; two Chinese characters are a word."""


class CustomWords(NamedTuple):
    """The words of an owner's settings: `custom` ones ask for memories, `excluded` ones keep memories out."""

    custom: Words = Words()
    excluded: Words = Words()


class Decision(NamedTuple):
    """What a message asks of the memory, and why.

    `signals` are the words of our tables or of the owner's settings that decided. `broad` asks for the persona and for recent and
    important memories too. `weak_identity`: the person speaks of themselves, so that an answer of few hits may be filled up with these.
    """

    kind: Kind
    reason: Reason
    signals: tuple[str, ...]
    query_class: QueryClass
    broad: bool
    weak_identity: bool

    @property
    def recall(self) -> Recall:
        """Whether to look for memories at all; "if_good" asks for the best hit to pass a bound."""
        if self.kind == "weak":
            return "if_good"
        return "yes" if self.kind == "strong" or self.reason == "session_start" else "no"


def decide(message: str, *, new_session: bool, custom: CustomWords | None = None) -> Decision:
    """Judge one message of any length by the person's own words in it: at most 2,000 signs at its beginning and at its end.

    Code, quotations, pasted lines and material handed over for work carry no signal. Custom words are looked for as learning looks for
    them (Chinese anywhere, others as whole words in any case). Never raises.
    """
    owner = custom or CustomWords()
    spoken = clauses.own(message)
    text = _opened(clauses.normal(spoken).translate(tables().traditional))
    plain = tables().look_alikes.without(text)
    person = tables().identity.found(plain) or tables().personal.found(tables().impersonal.without(plain))
    kind, reason, signals = _judged(spoken, plain, owner, person)
    if kind == "none":
        reason = "session_start" if new_session else "no_signal"
    return Decision(
        kind=kind,
        reason=cast("Reason", reason),
        signals=tuple(dict.fromkeys(signals))[:SIGNALS],
        query_class=_query_class(text, has_code="```" in message),
        broad=kind == "strong" and bool(person),
        weak_identity=tables().own.anywhere(tables().served.without(text)),
    )


def _opened(text: str) -> str:
    """Return the normal form with an opener such as "ok" as a clause of its own."""
    for opener in tables().openers:
        text = text.replace(f" | {opener} ", f" | {opener} | ")
    return text.replace(" | | ", " | ")


def _judged(spoken: str, plain: str, owner: CustomWords, person: list[Found]) -> tuple[Kind, str, list[str]]:
    words = tables()
    if unwanted := keywords.found(spoken, owner.excluded):
        return "excluded", "excluded_word", unwanted
    strong = {"signal_person": person} | {reason: phrases.found(plain) for reason, phrases in words.strong.items()}
    strong["signal_time"] = intent_world.leaning(plain, strong["signal_time"])
    loose = [hit for hit in strong["signal_project"] if hit.phrase in words.loose.words]
    adrift = set(loose).difference(intent_world.leaning(plain, loose))
    strong["signal_project"] = [hit for hit in strong["signal_project"] if hit not in adrift]
    signals = [hit for hits in strong.values() for hit in hits]
    about = [hit for hit in signals if hit.phrase != _SUBJECT]
    changes = words.topic_change.found(plain)
    if changed := [hit for hit in changes if not any(_in_one_clause(plain, hit, signal) for signal in about)]:
        return "excluded", "topic_change", _phrases(changed)
    if wanted := keywords.found(spoken, owner.custom):
        return "strong", "signal_custom", wanted
    if words.wordings.anywhere(plain):
        return "none", "", []
    first = min((hit.at for hit in signals), default=len(plain))
    aside = words.aside.found(plain)
    if aside and aside[0].at < first and not person:
        return "excluded", "aside", _phrases(aside)
    for reason, hits in strong.items():
        if hits:
            return "strong", reason, _phrases(hits)
    if pointing := intent_world.leaning(plain, [*words.pointers.found(plain), *_pronouns(plain)]):
        return "weak", "signal_pointer", _phrases(pointing)
    if own := words.belongings.found(words.impersonal.without(plain)):
        return "weak", "signal_person", _phrases(own)
    return "none", "", []


def _in_one_clause(plain: str, one: Found, other: Found) -> bool:
    """Whether no border of a clause stands between two phrases, their own first signs aside."""
    first, then = sorted((one.at, other.at))
    return "|" not in plain[first + 2 : then + 2]


def _phrases(hits: list[Found]) -> list[str]:
    return [hit.phrase for hit in hits]


def _pronouns(plain: str) -> list[Found]:
    """Return the pronouns that stand for something outside of the message: near its beginning, after nothing they could stand for."""
    return [hit for hit in tables().pronouns.found(plain) if _outside(plain[: hit.at + 1])]


def _outside(before: str) -> bool:
    clauses_before = [clause.strip() for clause in before.split("|")[1:]]
    while len(clauses_before) > 1 and clauses_before[0] in tables().openers:
        clauses_before = clauses_before[1:]
    first = clauses_before[0]
    return (
        len(clauses_before) == 1
        and sum(len(word) // 2 if has_han(word) else 1 for word in first.split()) <= _NEAR
        and not tables().introductions.anywhere(f" {first} ")
        and not intent_world.named_before(first)
    )


def _query_class(text: str, *, has_code: bool) -> QueryClass:
    for name, phrases in tables().classes:
        if phrases.anywhere(text):
            return name
    return "code" if has_code else "general"
