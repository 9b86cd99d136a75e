"""One memory of a file that is imported, checked so that whatever is stored of it can surely be applied. Pure.

Every reader, of our own form and of foreign ones, makes its records with `checked`. What a record says of itself (that its secrets are
masked, whose it is, what it is called here) is never believed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, Self, TypeVar

from shared.domain import limits, naming
from shared.domain.errors import Invalid
from shared.domain.ids import is_ulid
from shared.domain.memory import Category, Origin, Scope, Status
from shared.domain.times import moment, rfc3339
from shared.keeping.memories import fields
from shared.text.normalise import full_width_length, is_well_formed, normalise, visible
from shared.text.secrets import contains_mask, find, mask

Value = TypeVar("Value")

IMPORTANCE: Final = 5
IMPORTANCES: Final = range(1, 11)
FIRST: Final = datetime.fromtimestamp(0, UTC)
"""Earlier times have no id."""
NAMES: Final = frozenset(
    {"id", "content", "scope", "project", "agent", "category", "importance", "tags", "metadata"}
    | {"status", "created_at", "updated_at", "expires_at", "origin"}
)
"""What `checked` knows of a record."""
_ORIGIN: Final = frozenset({"task_id", "session_id", "at", "quote", "model"})
_MODEL_CHARACTERS: Final = 200
_FIELD_SHOWN: Final = 64


class Reason(StrEnum):
    """Why a line is refused."""

    NOT_JSON = "not_json"
    UNKNOWN_KIND = "unknown_kind"
    UNKNOWN_FIELD = "unknown_field"
    INVALID = "invalid"
    NO_CONTENT = "no_content"
    TOO_LONG = "too_long"
    MASKED_CREDENTIAL = "masked_credential"
    EXPIRED = "expired"
    DAMAGED = "damaged"
    ORDER = "order"
    ONLY_BY_HAND = "only_by_hand"


class _Expired(Invalid):
    """Its time is over."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A line that is not taken in: why, and the field that is wrong where there is one. Never a word of what it says goes into a report.

    `old_id` is the memory that it is about, if it names one in our form, and `text` what it says, its secrets masked: a file that replaces
    what stands holds that one all the same.
    """

    line: int
    reason: str
    field: str | None = None
    old_id: str | None = None
    text: str | None = None

    def to_body(self) -> dict[str, Any]:
        """Return what the owner is told."""
        told = {"line": self.line, "reason": str(self.reason)}
        return told | ({"field": self.field} if self.field else {})


@dataclass(frozen=True, slots=True)
class Record:
    """A memory as a file says it. `line` begins at 1; `content` is in plain, secrets and all; `old_id` is what the file calls it (only an
    id of our form is kept); `metadata` is a JSON text. Times lie between 1970 and now, `updated_at` not before `created_at`."""

    line: int
    content: str
    scope: Scope
    project: str | None
    agent: str | None
    category: Category
    importance: int
    tags: tuple[str, ...]
    metadata: str
    status: Status
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    origin: Origin
    old_id: str | None = None

    def to_body(self) -> dict[str, Any]:
        """Return what is sealed of it; empty parts are left out."""
        origin = self.origin
        body: dict[str, Any] = {
            "line": self.line,
            "content": self.content,
            "scope": self.scope.value,
            "project": self.project,
            "agent": self.agent,
            "category": self.category.value,
            "importance": self.importance,
            "tags": list(self.tags) or None,
            "metadata": self.metadata,
            "status": self.status.value,
            "created_at": rfc3339(self.created_at),
            "updated_at": rfc3339(self.updated_at),
            "expires_at": rfc3339(self.expires_at) if self.expires_at else None,
            "session_id": origin.session_id,
            "at": rfc3339(origin.at) if origin.at else None,
            "quote": origin.quote,
            "model": origin.model,
            "id": self.old_id,
        }
        return {name: value for name, value in body.items() if value is not None}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Self:
        """Read what `to_body` wrote."""
        at, expires_at = body.get("at"), body.get("expires_at")
        return cls(
            line=body["line"],
            content=body["content"],
            scope=Scope(body["scope"]),
            project=body.get("project"),
            agent=body.get("agent"),
            category=Category(body["category"]),
            importance=body["importance"],
            tags=tuple(body.get("tags", ())),
            metadata=body["metadata"],
            status=Status(body["status"]),
            created_at=moment(body["created_at"]),
            updated_at=moment(body["updated_at"]),
            expires_at=moment(expires_at) if expires_at else None,
            origin=Origin(
                None, body.get("session_id"), moment(at) if at else None, body.get("quote"), body.get("model")
            ),
            old_id=body.get("id"),
        )


def checked(line: int, sent: Mapping[str, Any], now: datetime) -> Record | Refusal:
    """Return the record that these fields make, or why they make none. `sent` knows NAMES; what is absent or None has its default.

    Moments may be datetimes with a zone or RFC 3339; later ones than `now` become `now`.
    """
    taken = _checked(line, sent, now)
    return replace(taken, old_id=old_id(sent), text=_said(sent)) if isinstance(taken, Refusal) else taken


def _checked(line: int, sent: Mapping[str, Any], now: datetime) -> Record | Refusal:
    unknown = sorted(name for name in sent if name not in NAMES)
    if unknown:
        return Refusal(line, Reason.UNKNOWN_FIELD, unknown[0][:_FIELD_SHOWN])
    text = sent.get("content")
    if text is None:
        return Refusal(line, Reason.NO_CONTENT)
    if not isinstance(text, str) or not is_well_formed(text) or not visible(text):
        return Refusal(line, Reason.INVALID, "content")
    if len(text) > 2 * limits.CONTENT_FULL_WIDTH or full_width_length(text) > limits.CONTENT_FULL_WIDTH:
        return Refusal(line, Reason.TOO_LONG, "content")
    if contains_mask(text):
        return Refusal(line, Reason.MASKED_CREDENTIAL)
    try:
        return _record(line, fields.content(text), sent, now)
    except _Expired:
        return Refusal(line, Reason.EXPIRED)
    except Invalid as invalid:
        return Refusal(line, Reason.INVALID, _field(invalid))


def _said(sent: Mapping[str, Any]) -> str | None:
    """Return what a refused line says, as a memory that says the same shows it; None for what no memory says."""
    text = sent.get("content")
    if not isinstance(text, str) or len(text) > 2 * limits.CONTENT_FULL_WIDTH or not is_well_formed(text):
        return None
    return normalise(mask(text).text)


def _record(line: int, text: str, sent: Mapping[str, Any], now: datetime) -> Record:
    scope = _one_of(sent, "scope", Scope, Scope.USER)
    status = _one_of(sent, "status", Status, Status.ACTIVE)
    if status is Status.RETIRED:
        raise _wrong("status")
    named = [_named(sent, "project", naming.project), _named(sent, "agent", naming.name)]
    project, agent = fields.place(scope, *named)
    created_at = min(_moment(sent, "created_at") or now, now)
    updated_at = min(_moment(sent, "updated_at") or created_at, now)
    return Record(
        line=line,
        content=text,
        scope=scope,
        project=project,
        agent=agent,
        category=_one_of(sent, "category", Category, Category.KNOWLEDGE),
        importance=_importance(sent),
        tags=_tags(sent),
        metadata=_metadata(sent),
        status=status,
        created_at=created_at,
        updated_at=max(created_at, updated_at),
        expires_at=_expires_at(sent, now),
        origin=_origin(sent, now),
        old_id=old_id(sent),
    )


def old_id(sent: Mapping[str, Any]) -> str | None:
    """Return what a file calls a memory, if that is an id of our form."""
    given = sent.get("id")
    return given if isinstance(given, str) and is_ulid(given) else None


def _one_of(sent: Mapping[str, Any], name: str, kind: Callable[[str], Value], default: Value) -> Value:
    given = sent.get(name)
    if given is None:
        return default
    return _tried(name, str, kind, given)


def _tried(name: str, form: type, read: Callable[[Any], Value], given: object) -> Value:
    """Return what is read of a value that has this form. Raises Invalid."""
    if not isinstance(given, form):
        raise _wrong(name)
    try:
        return read(given)
    except (ValueError, OverflowError):
        raise _wrong(name) from None


def _named(sent: Mapping[str, Any], name: str, rule: Callable[[str], str]) -> str | None:
    given = sent.get(name)
    return None if given is None else _tried(name, str, rule, given)


def _moment(sent: Mapping[str, Any], name: str) -> datetime | None:
    """Return a moment in UTC to the millisecond; none before 1970."""
    given = sent.get(name)
    if given is None:
        return None
    read = given if isinstance(given, datetime) else _tried(name, str, moment, given)
    if read.tzinfo is None or read < FIRST:
        raise _wrong(name)
    return read.astimezone(UTC).replace(microsecond=read.microsecond // 1000 * 1000)


def _expires_at(sent: Mapping[str, Any], now: datetime) -> datetime | None:
    ends = _moment(sent, "expires_at")
    if ends is not None and ends <= now:
        raise _Expired
    return ends


def _importance(sent: Mapping[str, Any]) -> int:
    given = sent.get("importance")
    if given is None:
        return IMPORTANCE
    if type(given) is not int or given not in IMPORTANCES:
        raise _wrong("importance")
    return given


def _tags(sent: Mapping[str, Any]) -> tuple[str, ...]:
    given = sent.get("tags") or []
    if not isinstance(given, list | tuple) or len(given) > limits.TAGS:
        raise _wrong("tags")
    return fields.tags([_tried("tags", str, naming.tag, tag) for tag in given])


def _metadata(sent: Mapping[str, Any]) -> str:
    given = sent.get("metadata") or {}
    if not isinstance(given, Mapping):
        raise _wrong("metadata")
    try:
        return fields.metadata(given)
    except (ValueError, TypeError, RecursionError):
        raise _wrong("metadata") from None


def _origin(sent: Mapping[str, Any], now: datetime) -> Origin:
    """Return where it says it comes from: the quote cut and its secrets masked anew. The task is one of another life and left out, and
    so is a session whose name holds a secret."""
    given = sent.get("origin") or {}
    if not isinstance(given, Mapping) or not _ORIGIN.issuperset(given):
        raise _wrong("origin")
    try:
        session_id, at = _named(given, "session_id", naming.name), _moment(given, "at")
        quote, model = _text(given, "quote", limits.QUOTE_CHARACTERS), _text(given, "model", _MODEL_CHARACTERS)
    except Invalid:
        raise _wrong("origin") from None
    if session_id is not None and find(session_id):
        session_id = None
    return Origin(None, session_id, min(at, now) if at else None, quote, model)


def _text(given: Mapping[str, Any], name: str, longest: int) -> str | None:
    text = given.get(name)
    if text is None:
        return None
    if not isinstance(text, str) or len(text) > longest or not is_well_formed(text):
        raise _wrong(name)
    return mask(text).text


def _wrong(name: str) -> Invalid:
    return Invalid.of(name, "It is not what it must be.")


def _field(invalid: Invalid) -> str | None:
    details = invalid.details
    return details[0]["field"] if isinstance(details, list) and details else None
