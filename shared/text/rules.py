"""The rules extractor: what can be learned from a user's own words without a model, in Chinese and English.

Sentence by sentence, byte for byte; never from questions, small talk, orders to the assistant, quoted or pasted text. Every
judgement is made over text whose secrets are masked, so that no rule ever reads a secret. Knows nothing of owners,
storage or existing memories.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from shared.text import keywords, questions, requests, secrets, sentences, silence, spoken, statements
from shared.text.han import simplified
from shared.text.keywords import Words
from shared.text.normalise import full_width_length, has_words, normalise
from shared.text.pattern import Pattern

LONGEST_FACT = 120
LONGEST_QUOTE = 200
_LONGEST_READ = 2_000
_NOTHING = Words()
_LIST_MARK = Pattern(r"^(?:[-*•+]|\(?\d{1,3}[.)、])\s+")


class Candidate(NamedTuple):
    """One fact to learn.

    `content` is an exact piece of what the user wrote and still holds the values of secrets; `masked` is the same with
    every value apart, ready to be sealed. `type` is "user" or "project". `quote` (≤ 200 signs) is the masked sentence.
    """

    content: str
    category: str
    importance: int
    type: str
    quote: str
    forced: bool
    masked: secrets.Masked


class Extraction(NamedTuple):
    """The facts in the order they were said, and how many were left out: beyond `limit`, too long, unwanted by the owner."""

    candidates: list[Candidate]
    over_limit: int
    too_long: int
    suppressed: int


class _Said(NamedTuple):
    """One sentence of a message: its text with secrets masked, and with the values apart."""

    text: str
    values: list[tuple[int, str]]


class _Kept(NamedTuple):
    category: str
    importance: int


def extract(
    user_texts: Sequence[str],
    *,
    custom: Words = _NOTHING,
    excluded: Words = _NOTHING,
    has_project: bool,
    limit: int,
    manual: bool = False,
) -> Extraction:
    """Return the facts in the user's messages, given oldest first.

    Automatic learning keeps sentences with a keyword, a custom word or a secret; `manual` learning, and messages that
    say "记住这个 / save this", keep everything that is declared. A message with "不要保存 / don't save" is left out, and all of
    them if it names the conversation or says nothing else. Facts longer than 120 full-width characters (secrets masked)
    are dropped alone; of the others the `limit` most important are kept.
    """
    messages = [_said(text) for text in user_texts]
    reach = [_suppression(message) for message in messages]
    if "conversation" in reach:
        return Extraction([], 0, 0, sum(len(message) for message in messages))
    forced = _forced_messages(messages)
    suppressed = too_long = 0
    found: list[Candidate] = []
    for number, message in enumerate(messages):
        unwanted = [reach[number] == "message" or _unwanted(said, excluded) for said in message]
        suppressed += sum(unwanted)
        for said in (said for said, refused in zip(message, unwanted, strict=True) if not refused):
            candidate = _candidate(said, custom, has_project=has_project, manual=manual, forced=forced[number])
            if candidate and full_width_length(candidate.masked.text) > LONGEST_FACT:
                too_long += 1
            elif candidate:
                found.append(candidate)
    distinct = _distinct(found)
    kept = _most_important(distinct, limit)
    return Extraction(kept, len(distinct) - len(kept), too_long, suppressed)


def wanted(user_texts: Sequence[str], excluded: Words = _NOTHING) -> tuple[list[str], int]:
    """Return the messages without the sentences that their owner does not want learned, and how many were cut out.

    Those are the ones that `extract` counts as suppressed: "不要保存 / don't save" in its reach, and excluded words. What was pasted or
    quoted wishes for nothing. Every other character stays in its order.
    """
    spans = [
        [
            (start + first, start + last)
            for start, end in spoken.own_words(text)
            for first, last in sentences.spans(text[start:end])
        ]
        for text in user_texts
    ]
    messages = [[_Said(text[a:b], []) for a, b in cuts] for text, cuts in zip(user_texts, spans, strict=True)]
    reach = [_suppression(message) for message in messages]
    all_of_it = "conversation" in reach
    kept: list[str] = []
    dropped = 0
    for text, message, cuts, reached in zip(user_texts, messages, spans, reach, strict=True):
        for said, (first, last) in zip(reversed(message), reversed(cuts), strict=True):
            if all_of_it or reached == "message" or _unwanted(said, excluded):
                text = text[:first] + text[last:]  # noqa: PLW2901 - from the end, so that places stay true
                dropped += 1
        kept.append(text)
    return kept, dropped


def _unwanted(said: _Said, excluded: Words) -> bool:
    return keywords.holds(said.text, excluded) or silence.suppresses(said.text) != ""


def _said(text: str) -> list[_Said]:
    """The sentences of a message's own words.

    A value whose sentence does not give it away (it stands alone under its label, or is "then changed to …") is joined to the
    sentence before, so that whoever looks at the fact alone finds the secret again.
    """
    found: list[_Said] = []
    for start, end in spoken.own_words(text):
        masked = secrets.mask(text[start:end])
        joined: list[tuple[int, int]] = []
        for first, last in sentences.spans(masked.text):
            piece = _piece(masked, first, last)
            if not joined or (_tells_its_secrets(piece) and not _under_label(piece, masked.text[joined[-1][1] - 1])):
                joined.append((first, last))
            else:
                joined[-1] = (joined[-1][0], last)
        found.extend(_piece(masked, first, last) for first, last in joined)
    return found


def _piece(masked: secrets.Masked, first: int, last: int) -> _Said:
    return _Said(masked.text[first:last], _values_within(masked, first, last))


def _under_label(said: _Said, before: str) -> bool:
    return bool(said.values) and not has_words(said.text) and before in ":：=是为"


def _tells_its_secrets(said: _Said) -> bool:
    return not said.values or secrets.mask(secrets.unmask(secrets.Masked(*said))) == secrets.Masked(*said)


def _values_within(masked: secrets.Masked, first: int, last: int) -> list[tuple[int, str]]:
    """Return the values between two places; they stand in order, so that only those are looked at."""
    begin, end = (bisect_left(masked.values, (place, "")) for place in (first, last))
    return [(offset - first, value) for offset, value in masked.values[begin:end]]


def _suppression(message: Sequence[_Said]) -> str:
    reaches = [silence.suppresses(said.text) for said in message]
    if "conversation" in reaches or ("message" in reaches and all(only_request(said.text) for said in message)):
        return "conversation"
    return "message" if "message" in reaches else ""


def only_request(text: str) -> bool:
    """Whether a sentence says nothing but that something is not to be kept, of what was said before, or is small talk."""
    if silence.names_thing(text):
        return False
    rest = silence.without_suppression(text)
    return not has_words(rest) or questions.is_small_talk(rest) or silence.points_back(text)


def _forced_messages(messages: Sequence[Sequence[_Said]]) -> list[bool]:
    """Which messages are asked to be kept; a request that stands alone speaks of the message before it."""
    asks = [any(requests.forces(said.text) for said in message) for message in messages]
    forced = list(asks)
    for number, message in enumerate(messages):
        alone = asks[number] and not any(requests.says_more(said.text) for said in message)
        if alone and number:
            forced[number - 1] = True
    return forced


def _candidate(said: _Said, custom: Words, *, has_project: bool, manual: bool, forced: bool) -> Candidate | None:
    read = said.text[:_LONGEST_READ]
    bare = _LIST_MARK.sub("", read)
    asked = requests.forces(bare)
    plain = requests.without_request(bare) if asked else bare
    skipped = read.rindex(plain)
    end = skipped + len(plain)
    judged_as = simplified(plain)
    if not (has_words(plain) or said.values):
        return None
    kept = _judged(judged_as, custom, secret=bool(said.values), manual=manual, forced=forced or asked, asked=asked)
    if kept is None:
        return None
    masked = secrets.Masked(
        said.text[skipped:end], [(offset - skipped, value) for offset, value in said.values if skipped <= offset < end]
    )
    project = has_project and statements.of_project(judged_as, own=kept.category in {"preference", "credential"})
    return Candidate(
        content=secrets.unmask(masked),
        category=kept.category,
        importance=kept.importance,
        type="project" if project else "user",
        quote=said.text[:LONGEST_QUOTE],
        forced=forced or asked or manual,
        masked=masked,
    )


def _judged(text: str, custom: Words, *, secret: bool, manual: bool, forced: bool, asked: bool) -> _Kept | None:
    if questions.is_question(text):
        return None
    if secret:
        return _Kept("credential", 10)
    if questions.is_small_talk(text) or (not asked and _ordered(text)):
        return None
    if statements.about_assistant(text) and not (asked or keywords.durable(text)):
        return None
    if keywords.holds(text, custom):
        told = _triggered(text, lenient=True) or _Kept(keywords.CUSTOM_CATEGORY, 0)
        return told._replace(importance=max(told.importance, keywords.CUSTOM_IMPORTANCE))
    if not (manual or forced) and statements.guessed(text):
        return None
    triggered = _triggered(text, lenient=manual or forced)
    if triggered or not (manual or forced):
        return triggered
    return _declared(text, forced=forced)


def _ordered(text: str) -> bool:
    """Whether the sentence only tells the assistant what to do; lasting orders and reasons given in it are facts."""
    if not questions.is_order(text) or keywords.durable(text):
        return False
    return not any(
        statements.first_person(clause)
        and not questions.is_order(clause)
        and any(trigger.kind in {"preference", "decision", "constraint"} for trigger in keywords.triggers(clause))
        for clause in questions.clauses(text)
    )


def _triggered(text: str, *, lenient: bool) -> _Kept | None:
    if statements.health(text):
        return _Kept("constraint", 10)
    for trigger in keywords.triggers(text):
        if not lenient and trigger.kind != "preference" and statements.of_the_moment(text):
            continue
        if not lenient and trigger.kind == "preference" and statements.reaction(text):
            continue
        if not lenient and trigger.kind == "usage" and not statements.has_subject(text):
            continue
        if lenient and trigger.kind in {"usage", "important"} and statements.identity(text):
            continue
        return _Kept(trigger.category, trigger.importance)
    to_assistant = questions.is_order(text) or statements.about_assistant(text)
    if keywords.lasting_order(text) or (keywords.durable(text) and to_assistant) or statements.habit(text):
        return _Kept("preference", 7)
    return _Kept("knowledge", 8) if statements.introduces(text) and not statements.of_the_moment(text) else None


def _declared(text: str, *, forced: bool) -> _Kept | None:
    """A plain statement without a keyword, kept because the user asked for it; chatter only where it is asked for itself."""
    if statements.chatter(text) and not forced:
        return None
    if statements.contact(text):
        return _Kept("contact", 6)
    if statements.identity(text):
        return _Kept("knowledge", 8)
    if statements.dated(text):
        return _Kept("event", 6 if forced else 5)
    return _Kept("knowledge", 8 if forced else 6 if statements.about_self(text) else 5)


def _distinct(found: Sequence[Candidate]) -> list[Candidate]:
    """Drop facts that were said before in this run, whatever their spacing, case and closing sign."""
    first: dict[str, Candidate] = {}
    for candidate in found:
        first.setdefault(normalise(candidate.content).casefold().rstrip("。.！!；;"), candidate)
    return list(first.values())


def _most_important(found: Sequence[Candidate], limit: int) -> list[Candidate]:
    ranked = sorted(range(len(found)), key=lambda at: (-found[at].importance, not found[at].forced, at))
    return [found[at] for at in sorted(ranked[: max(limit, 0)])]
