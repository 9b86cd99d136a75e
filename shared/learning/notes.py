"""Notes of a session, and what becomes of them: no model reads them, each distinct key point becomes one fact."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from shared.domain import limits, naming
from shared.domain.memory import Category, Scope
from shared.domain.settings import Preferences
from shared.domain.times import moment, rfc3339
from shared.learning.alike import alike, distinct, flat, said
from shared.learning.conversation import Conversation
from shared.learning.extractor import Candidate, Extracted, Extractor, Known
from shared.text import keywords, requests, rules, sentences, silence
from shared.text.normalise import full_width_length, normalise
from shared.text.pattern import Pattern
from shared.text.secrets import mask

NOTES = "notes/1"
IMPORTANCE = 5
SUPPRESSED = "suppressed"
_BETWEEN = Pattern(r"[\s#]+")


@dataclass(frozen=True, slots=True)
class Note:
    """What a client noted: the person's message, the key points it found (none: the message speaks for itself), its topic and tags."""

    message: str
    at: datetime
    key_points: tuple[str, ...] = ()
    topic: str | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """Whether a note is kept, and why."""

    saved: bool
    reason: str


def judged(message: str, key_points: Sequence[str], preferences: Preferences) -> Judged:
    """Tell whether a message is worth a note. Wishes that nothing be kept come first, the owner's excluded words next, in the message or
    in a key point; then the message's own wish, then key points, then trigger words."""
    custom, excluded = _own_words(preferences)
    texts = (message, *key_points)
    if any(silence.suppresses(text) for text in texts):
        return Judged(saved=False, reason=SUPPRESSED)
    if any(keywords.holds(text, excluded) for text in texts):
        return Judged(saved=False, reason="excluded")
    if requests.forces(message):
        said = bool(key_points) or any(map(requests.says_more, sentences.split(message)))
        return Judged(saved=said, reason="forced" if said else "nothing_said")
    if key_points:
        return Judged(saved=True, reason="key_points")
    if keywords.holds(message, custom):
        return Judged(saved=True, reason="custom_keyword")
    if keywords.triggers(message) or mask(message).values:
        return Judged(saved=True, reason="trigger")
    return Judged(saved=False, reason="no_trigger")


def takes_back(message: str) -> Literal["", "last", "all"]:
    """What a wish that something is not kept means of what was noted before: nothing where the message says what it means; the note before,
    where it is no more than that wish ("don't save that", 刚才那条不要保存); all, where it names the conversation."""
    said = sentences.split(message)
    reaches = [silence.suppresses(one) for one in said]
    points = any(reaches) and all(map(rules.only_request, said))
    if "conversation" in reaches or (points and silence.names_conversation(message)):
        return "all"
    return "last" if points else ""


def merged(notes: Sequence[Note]) -> list[Note]:
    """Return the notes, oldest first, without repetition: of those that are alike the latest stays (the longer message, where one holds
    the other), with the key points of all. Notes that follow each other within ten minutes form a group and share their topic and tags."""
    kept: list[Note] = []
    for note in sorted(notes, key=lambda one: one.at):
        same = next((place for place, one in enumerate(kept) if alike(one.message, note.message)), None)
        if same is None:
            kept.append(note)
            continue
        before = kept.pop(same)
        points, tags = (*before.key_points, *note.key_points), (*before.tags, *note.tags)
        message = before.message if len(said(before.message)) > len(said(note.message)) else note.message
        together = replace(note, message=message, topic=note.topic or before.topic)
        kept.append(replace(together, key_points=distinct(points), tags=distinct(tags)))
    return [member for group in _groups(kept) for member in _sharing(group)]


class NotesExtractor:
    """Makes candidates of a session's notes; leaves every other conversation to another extractor."""

    def __init__(self, others: Extractor) -> None:
        self._others = others

    def extract(
        self, conversation: Conversation, received_at: datetime, preferences: Preferences, known: Callable[[], Known]
    ) -> Extracted:
        """Answer one candidate for each distinct key point, however many they are."""
        if not conversation.notes:
            return self._others.extract(conversation, received_at, preferences, known)
        notes = merged([note_of(body) for body in conversation.notes])
        candidates: dict[str, Candidate] = {}
        dropped = 0
        for note in notes:
            found = _candidates(note, conversation, preferences)
            fitting = [one for one in found if full_width_length(one.masked.text) <= limits.CONTENT_FULL_WIDTH]
            dropped += max(1, len(found)) - len(fitting)
            for candidate in fitting:
                candidates.setdefault(flat(candidate.masked.text), candidate)
        return Extracted(tuple(candidates.values()), dropped, NOTES)


def body_of(note: Note) -> dict[str, Any]:
    """Return what is sealed of a note."""
    body = {
        "message": note.message,
        "at": rfc3339(note.at),
        "key_points": list(note.key_points),
        "tags": list(note.tags),
    }
    return body | ({"topic": note.topic} if note.topic else {})


def note_of(body: Mapping[str, Any]) -> Note:
    """Read what `body_of` wrote."""
    points, tags = tuple(body["key_points"]), tuple(body["tags"])
    return Note(body["message"], moment(body["at"]), points, body.get("topic"), tags)


def _own_words(preferences: Preferences) -> tuple[keywords.Words, keywords.Words]:
    """Return the owner's custom and excluded words."""
    custom, excluded = preferences.custom_keywords, preferences.excluded_keywords
    return keywords.words_of(custom.items()), keywords.words_of(excluded.items())


def _candidates(note: Note, conversation: Conversation, preferences: Preferences) -> list[Candidate]:
    """Return the facts of a note: its key points, else what the rules find. What was asked for to be kept is kept whole where they find
    nothing, as in a sentence that is longer than a fact."""
    has_project = conversation.real_project() is not None
    quote = mask(note.message).text[: limits.QUOTE_CHARACTERS]
    custom, excluded = _own_words(preferences)
    found = rules.extract(
        note.key_points or (note.message,),
        custom=custom,
        excluded=excluded,
        has_project=has_project,
        limit=limits.FACTS_OTHER,
        manual=True,
    ).candidates
    texts = (note.message, *note.key_points)
    if any(keywords.holds(text, excluded) or silence.suppresses(text) for text in texts):
        return []
    points = note.key_points
    if not points and not found and requests.forces(note.message) and requests.says_more(note.message):
        points = (requests.without_request(note.message),)
    if not points:
        return [_candidate(one.masked, one.type, one.category, one.importance, quote, note) for one in found]
    by_text = {flat(one.content): one for one in found}
    made = []
    for point in points:
        rule = by_text.get(flat(point))
        category, importance = (rule.category, rule.importance) if rule else (Category.KNOWLEDGE.value, IMPORTANCE)
        own_secret = rule is not None and category == Category.CREDENTIAL and rule.type == "user"
        of_person = not has_project or category == Category.PREFERENCE or own_secret
        told = ("user" if of_person else "project", category, importance)
        made.append(_candidate(mask(normalise(point)), *told, quote, note))
    return made


def _candidate(masked: Any, scope: str, category: str, importance: int, quote: str, note: Note) -> Candidate:
    return Candidate(masked, Scope(scope), Category(category), importance, quote, at=note.at, tags=note.tags)


def _groups(notes: Sequence[Note]) -> list[list[Note]]:
    groups: list[list[Note]] = []
    for note in sorted(notes, key=lambda one: one.at):
        if groups and note.at - groups[-1][-1].at <= limits.NOTES_TOGETHER:
            groups[-1].append(note)
        else:
            groups.append([note])
    return groups


def _sharing(group: Sequence[Note]) -> list[Note]:
    """Give every note of a group the topic that one of them has, as a tag, and the tags of all."""
    topics = [tag for note in group if note.topic and (tag := _topic_tag(note.topic))]
    tags = distinct((*topics, *(tag for note in group for tag in note.tags)))
    return [replace(note, tags=tags[: limits.TAGS]) for note in group]


def _topic_tag(topic: str) -> str | None:
    """Return a topic as a tag, its words joined by hyphens; None where no tag can be made of it."""
    words = "-".join(_BETWEEN.split(normalise(topic)))
    try:
        return naming.tag("#" + words[: limits.TAG_CHARACTERS - 1].strip("-"))
    except ValueError:
        return None
