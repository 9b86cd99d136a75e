"""A conversation: what was said, which part of it is learned from, and when nothing is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from shared.domain import limits
from shared.domain.errors import Invalid
from shared.domain.memory import DEFAULT_PROJECT
from shared.domain.settings import Preferences
from shared.domain.task import Trigger
from shared.domain.times import moment, rfc3339
from shared.text import keywords, requests
from shared.text.normalise import full_width_length, normalise, visible

_TOOLS = frozenset({"tool", "function"})


class Skipped(StrEnum):
    """Why a conversation is not learned from."""

    DISABLED = "disabled"
    AUTO_CAPTURE_OFF = "auto_capture_off"
    NOT_COMPLETED = "not_completed"
    SESSION_TYPE = "session_type"
    MESSAGE_MISSING = "message_missing"
    TOO_SHORT = "too_short"


@dataclass(frozen=True, slots=True)
class Message:
    """One message: `text` is the text of its content, nothing of its images or files."""

    role: str
    text: str
    at: datetime | None = None
    name: str | None = None
    tool_calls: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a client sent, validated. `project` is ACTIVE_PROJECT for the active one, until the conversation is accepted."""

    messages: tuple[Message, ...]
    trigger: Trigger
    project: str | None = None
    agent: str | None = None
    session_id: str | None = None
    session_type: str = "main"
    outcome: str = "completed"
    dry_run: bool = False
    notes: tuple[Mapping[str, Any], ...] = ()
    """The notes of a session, as they are sealed (shared/learning/notes.py); their words stand in `messages` as well."""

    def learned_from(self) -> tuple[Message, ...]:
        """Return the messages that count for the trigger, in their order."""
        if self.trigger is Trigger.TASK_COMPLETED:
            return tuple(self._last_turn())
        if self.trigger is Trigger.SESSION_END:
            return self.messages[-limits.SESSION_END_MESSAGES :]
        return self.messages

    def _last_turn(self) -> Iterator[Message]:
        """Yield the last user message and the last answer; and of what came between only tool calls and what they returned."""
        chosen = [last for role in ("user", "assistant") if (last := self._last(role)) is not None]
        between, missing = False, len(chosen)
        for message in self.messages:
            if any(message is one for one in chosen):
                yield message
                missing -= 1
                between = message.role == "user" and missing > 0
            elif between and (message.role in _TOOLS or message.tool_calls):
                yield message if message.role in _TOOLS else replace(message, text="")

    def real_project(self) -> str | None:
        """Return the project; `default` is none."""
        return None if self.project == DEFAULT_PROJECT else self.project

    def skipped(self, preferences: Preferences) -> Skipped | None:
        """Return the reason not to learn from it; None when it is to be learned. A person's own wish needs no switch, and one that is
        said ("remember this"), or that holds one of the owner's own words, may be short."""
        if not preferences.enabled:
            return Skipped.DISABLED
        if self.trigger is Trigger.MANUAL:
            return None
        if not preferences.auto_capture:
            return Skipped.AUTO_CAPTURE_OFF
        if self.outcome != "completed":
            return Skipped.NOT_COMPLETED
        if self.session_type != "main":
            return Skipped.SESSION_TYPE
        return self._too_little(preferences)

    def _too_little(self, preferences: Preferences) -> Skipped | None:
        spoken = [message.text for message in self.learned_from() if message.role == "user" and visible(message.text)]
        if self.trigger is Trigger.TASK_COMPLETED and (not spoken or self._last("assistant") is None):
            return Skipped.MESSAGE_MISSING
        short = sum(full_width_length(normalise(text)) for text in spoken) < limits.SHORT_MESSAGE_FULL_WIDTH
        own = keywords.words_of(preferences.custom_keywords.items())
        if short and not any(requests.forces(text) or keywords.holds(text, own) for text in spoken):
            return Skipped.TOO_SHORT
        return None

    def _last(self, role: str) -> Message | None:
        """Return the last message of the role that says something."""
        return next((m for m in reversed(self.messages) if m.role == role and visible(m.text)), None)


def text_of(content: str | Sequence[Mapping[str, Any]] | None) -> str:
    """Return the text of a message's content: a string, the text parts of a list, nothing for null. No address is ever fetched."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    parts = [part.get("text") for part in content if part.get("type") in {"text", "input_text", "output_text"}]
    return "\n".join(part for part in parts if isinstance(part, str))


def refuse_silence(messages: Sequence[Message]) -> None:
    """Raise Invalid when nobody says anything: there is nothing to learn and nothing to skip."""
    if not any(visible(message.text) for message in messages):
        raise Invalid(details=[{"field": "messages", "problem": "at least one message must have text"}])


def to_body(conversation: Conversation, received_at: datetime) -> dict[str, Any]:
    """Return what is sealed of a conversation."""
    return {
        "v": 1,
        "messages": [_message(message) for message in conversation.messages],
        "trigger": conversation.trigger.value,
        "project": conversation.project,
        "agent": conversation.agent,
        "session_id": conversation.session_id,
        "received_at": rfc3339(received_at),
    } | ({"notes": list(conversation.notes)} if conversation.notes else {})


def from_body(body: Mapping[str, Any]) -> tuple[Conversation, datetime]:
    """Read what `to_body` wrote: the conversation and when it was received."""
    messages = tuple(
        Message(
            m["role"],
            m["text"],
            moment(m["at"]) if m.get("at") else None,
            m.get("name"),
            tuple(m.get("tool_calls", ())),
        )
        for m in body["messages"]
    )
    conversation = Conversation(
        messages,
        Trigger(body["trigger"]),
        body["project"],
        body["agent"],
        body["session_id"],
        notes=tuple(body.get("notes", ())),
    )
    return conversation, moment(body["received_at"])


def _message(message: Message) -> dict[str, Any]:
    form: dict[str, Any] = {"role": message.role, "text": message.text}
    if message.at:
        form["at"] = rfc3339(message.at)
    if message.name:
        form["name"] = message.name
    if message.tool_calls:
        form["tool_calls"] = list(message.tool_calls)
    return form
