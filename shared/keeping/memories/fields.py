"""What a memory's fields may be when a person writes them. Pure: every rule raises Invalid and names its field."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from shared.domain import limits
from shared.domain.errors import Invalid
from shared.domain.memory import DEFAULT_PROJECT, Scope
from shared.text.normalise import full_width_length, visible
from shared.text.secrets import MASK, contains_mask, find

RESERVED = frozenset({"user_id", "owner", "owner_id", "tenant", "tenant_id", "pk", "sk", "iss", "sub", "epoch"})
"""Names in metadata that elsewhere say whose a thing is; here nothing sent can, so nobody may believe it does."""


def content(text: str, field: str = "content") -> str:
    """Return the text unchanged: visible, short enough, without the mask. `field` is where it stands in what was sent."""
    if not visible(text):
        raise Invalid.of(field, "There is nothing to see in it.")
    length = full_width_length(text)
    if length > limits.CONTENT_FULL_WIDTH:
        most = limits.CONTENT_FULL_WIDTH
        raise Invalid.of(field, f"It may have {most} full-width characters ({2 * most} half-width ones).")
    if contains_mask(text):
        raise Invalid.of(
            field, f"It contains {MASK}, which stands for a secret; write the secret itself or leave it out."
        )
    return text


def place(scope: Scope, project: str | None, agent: str | None) -> tuple[str | None, str | None]:
    """Return project and agent as the scope keeps them."""
    if scope is Scope.PROJECT and (project is None or project == DEFAULT_PROJECT):
        raise Invalid.of(
            "project", f"Scope project needs the name of a real project; {DEFAULT_PROJECT} is none. Or use scope user."
        )
    if scope is Scope.AGENT and agent is None:
        raise Invalid.of("agent", "Scope agent needs the name of the agent.")
    if scope is not Scope.PROJECT and project is not None:
        raise Invalid.of("project", "Only scope project has a project.")
    if scope is not Scope.AGENT and agent is not None:
        raise Invalid.of("agent", "Only scope agent has an agent.")
    no_credential(project=project, agent=agent)
    return project, agent


def no_credential(**names: str | None) -> None:
    """Refuse names, by their fields, that hold a credential: names are shown to whoever sees what they name."""
    for field, name in names.items():
        if name is not None and find(name):
            raise Invalid.of(field, "The name holds a credential.")


def tags(given: Sequence[str]) -> tuple[str, ...]:
    """Return the tags without repetition, in the order given."""
    kept = tuple(dict.fromkeys(given))
    if any(find(tag.removeprefix("#")) or find(tag) or find(tag[1:].replace("_", " ")) for tag in kept):
        raise Invalid.of("tags", "A tag holds a credential; put it into content, where it is sealed apart.")
    return kept


def metadata(given: Mapping[str, Any]) -> str:
    """Return the metadata as JSON text with sorted names."""
    reserved = sorted(RESERVED & {name.casefold() for name in given})
    if reserved:
        raise Invalid.of("metadata", f"These names are reserved: {', '.join(reserved)}.")
    text = json.dumps(given, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    if len(text.encode()) > limits.METADATA_BYTES:
        raise Invalid.of("metadata", f"It may take {limits.METADATA_BYTES} bytes as JSON.")
    if any(find(line) for line in _lines(given)):
        raise Invalid.of("metadata", "It holds a credential; put it into content, where it is sealed apart.")
    return text


def expires_at(moment: datetime | None, now: datetime) -> datetime | None:
    """Return the moment, cut to the millisecond that is stored; it lies in the future."""
    if moment is None:
        return None
    if moment <= now:
        raise Invalid.of("expires_at", "It must lie in the future.")
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _lines(value: Any, name: str = "") -> list[str]:
    """Return every text as "name: text", as a detector expects secrets, and the names themselves."""
    if isinstance(value, Mapping):
        return [line for key, below in value.items() for line in (key, *_lines(below, key))]
    if isinstance(value, list):
        return [line for below in value for line in _lines(below, name)]
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return [f"{name}: {value}", str(value)]
    return []
