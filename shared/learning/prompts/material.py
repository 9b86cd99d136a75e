"""What of a conversation a model is shown: no order from outside, nothing Nacre told, no secret, every piece under its speaker.

The order of the steps matters and stands here only: orders are cut out of whole messages, secrets are hidden before a message is taken
apart (a label and its value may stand in different pieces), then a user's own words and pasted text part ways.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from shared.learning.conversation import Message
from shared.learning.placeholders import Placeholders
from shared.learning.quarantine import quarantine
from shared.text.normalise import has_words
from shared.text.spoken import own_words

PASTED: Final = "pasted"
_ROLES: Final = {"user": "user", "assistant": "assistant", "tool": "tool", "function": "tool"}
"""System and developer messages are left out: they are the application's words and say nothing of the person."""


@dataclass(frozen=True, slots=True)
class Material:
    """Messages of the roles `user`, `assistant`, `tool` and `pasted`, ready to be built into a prompt.

    `placeholders` puts secrets back into facts; `quarantined` counts the orders that were cut out.
    """

    messages: tuple[Message, ...]
    placeholders: Placeholders
    quarantined: int


def prepare(messages: Sequence[Message]) -> Material:
    """Return what may be shown of the messages. Tool calls become text of the role `tool`."""
    cleaned, quarantined = quarantine([one for message in messages for one in _with_calls(message)])
    kept = [message for message in cleaned if message.role in _ROLES and has_words(message.text)]
    placeholders = Placeholders.of([message.text for message in kept])
    hidden = [replace(m, text=text) for m, text in zip(kept, placeholders.texts, strict=True)]
    told = [piece for message in hidden for piece in _told(message) if has_words(piece.text)]
    return Material(tuple(told), placeholders, quarantined)


def said(messages: Sequence[Message]) -> str:
    """Return what the person said in prepared messages, and what the assistant said before the person spoke again."""
    return _text(messages, own=True)


def foreign(messages: Sequence[Message]) -> str:
    """Return the rest: what tools and documents brought in, and the assistant's last words, to which nobody has agreed."""
    return _text(messages, own=False)


def _text(messages: Sequence[Message], *, own: bool) -> str:
    last = max((at for at, message in enumerate(messages) if message.role == "user"), default=-1)
    return "\n".join(
        message.text
        for at, message in enumerate(messages)
        if own == (message.role == "user" or (message.role == "assistant" and at < last))
    )


def _with_calls(message: Message) -> Iterator[Message]:
    yield replace(message, tool_calls=())
    for call in message.tool_calls:
        yield Message("tool", f"→ {_call(call)}", message.at)


def _call(call: Mapping[str, Any]) -> str:
    function = call.get("function")
    asked = function if isinstance(function, Mapping) else call
    arguments = asked.get("arguments", asked.get("input", ""))
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return f"{asked.get('name', '')} {text}".strip()


def _told(message: Message) -> Iterator[Message]:
    """Part a user's own words from what was pasted or quoted."""
    role = _ROLES[message.role]
    if role != "user":
        yield replace(message, role=role)
        return
    done = 0
    for start, end in own_words(message.text):
        yield replace(message, role=PASTED, text=message.text[done:start])
        yield replace(message, text=message.text[start:end])
        done = end
    yield replace(message, role=PASTED, text=message.text[done:])
