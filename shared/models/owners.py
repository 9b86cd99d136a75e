"""An owner's settings, usage, projects and audit list as they travel."""

import zoneinfo
from dataclasses import asdict
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, StrictBool, StrictInt, StrictStr

from shared.domain import limits
from shared.domain.settings import Preferences
from shared.domain.times import rfc3339
from shared.keeping.audit.auditing import Action, Look, Looks
from shared.keeping.maintenance.schedules import checked
from shared.keeping.overview import Projects, Usage
from shared.models.forms import Change, Given, Shown
from shared.text.normalise import normalise, visible

FOR_EVER = -1


def _keyword(text: str) -> str:
    if not visible(text):
        raise ValueError("There is nothing to see in it.")
    return normalise(text)


def _keywords(given: list[str]) -> list[str]:
    return list(dict.fromkeys(given))


def _days(value: int) -> int:
    if value != FOR_EVER and not 1 <= value <= limits.DAYS_MAX:
        raise ValueError(f"Days are 1 to {limits.DAYS_MAX}, or -1 for no end.")
    return value


def _time_zone(name: str) -> str:
    try:
        return zoneinfo.ZoneInfo(name).key
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("This is no time zone of the IANA data base; write one like Asia/Shanghai.") from None


Keyword = Annotated[StrictStr, Field(min_length=1, max_length=limits.KEYWORD_CHARACTERS), AfterValidator(_keyword)]
Keywords = Annotated[list[Keyword], Field(max_length=limits.KEYWORDS), AfterValidator(_keywords)]
Days = Annotated[StrictInt, AfterValidator(_days)]
TimeZone = Annotated[StrictStr, Field(max_length=64), AfterValidator(_time_zone)]
Schedule = Annotated[StrictStr, Field(max_length=limits.SCHEDULE_CHARACTERS), AfterValidator(checked)]


class KeywordsIn(Given):
    """Keywords per language; a language that is not sent keeps its own."""

    zh: Keywords = Field(default_factory=list, description="for Chinese sentences")
    en: Keywords = Field(default_factory=list, description="for English sentences")


class SettingsPatch(Change):
    """What to change; settings that are not sent stay as they are."""

    enabled: StrictBool = Field(default=True, description="learning and recall at all; managing always works")
    auto_capture: StrictBool = Field(
        default=False, description="learn from conversations without being asked each time"
    )
    auto_retrieve: StrictBool = Field(default=True, description="give context without being forced to")
    language: Literal["zh", "en"] | None = Field(
        default=None, description="of the context's frame; null: the message's own"
    )
    credentials_in_context: StrictBool = Field(
        default=False, description="contexts show secrets; else a reference, credential: and the memory's id"
    )
    custom_keywords: KeywordsIn = Field(
        default_factory=KeywordsIn, description="words that make a sentence worth keeping; the rules use them"
    )
    excluded_keywords: KeywordsIn = Field(
        default_factory=KeywordsIn, description="the rules never learn sentences with these"
    )
    retention_days: Days = Field(
        default=FOR_EVER,
        description="days after its last change until a memory is shown no more, and then deleted; -1: kept for ever",
    )
    max_results: Annotated[StrictInt, Field(ge=1, le=limits.RESULTS_MAX)] = Field(
        default=limits.RESULTS_DEFAULT, description="of a search that names no limit"
    )
    search_days: Days = Field(default=FOR_EVER, description="how far back search looks, by creation; -1: no end")
    schedule: Schedule | None = Field(
        default=None,
        description="when to tidy this memory, in words (English, Chinese) or five cron fields, in `time_zone`; null: by need",
    )
    time_zone: TimeZone = Field(default="UTC", description="an IANA name; days and schedules are of this zone")

    def sent(self) -> dict[str, Any]:
        """Return only what the request names; of keywords only the languages it names."""
        return self.model_dump(exclude_unset=True)


class SettingsOut(Shown):
    """An owner's settings; version 0 are the defaults."""

    version: int = Field(description="grows with each change; also the ETag")
    enabled: bool
    auto_capture: bool
    auto_retrieve: bool
    language: str | None
    credentials_in_context: bool
    custom_keywords: dict[str, list[str]]
    excluded_keywords: dict[str, list[str]]
    retention_days: int
    max_results: int
    search_days: int
    schedule: str | None
    time_zone: str

    @classmethod
    def of(cls, preferences: Preferences) -> Self:
        return cls(**asdict(preferences))


class TodayOut(Shown):
    """What was done since midnight, UTC. `conversation_limit` 0: no limit; calls and tokens are the language model's."""

    conversations: int = Field(description="taken in")
    conversation_limit: int = Field(description="0: no limit")
    calls: int = Field(description="of the language model")
    tokens_in: int = Field(description="of the language model")
    tokens_out: int = Field(description="of the language model")


class UsageOut(Shown):
    """Bytes stored for an owner against the quota, and counts. `active_limit` 0: no limit."""

    used_bytes: int = Field(description="journal, index and table together")
    limit_bytes: int = Field(description="the quota")
    journal_bytes: int
    index_bytes: int
    table_bytes: int
    memories: int = Field(description="of every status")
    active: int = Field(description="of these, the active ones")
    active_limit: int = Field(description="0: no limit")
    today: TodayOut

    @classmethod
    def of(cls, usage: Usage) -> Self:
        return cls(**asdict(usage))


class ProjectOut(Shown):
    """A project that has memories or a summary, which is shown while the memories stand that it rests on."""

    project: str
    memories: int = Field(description="of every status")
    last_at: str = Field(description="when a memory was last added, or it was talked about or switched to")
    summary: str | None = Field(description="what was last said of it, by a model or its owner; the rules write none")


class ProjectsOut(Shown):
    """A page of projects; it may hold fewer than asked for and still have a cursor."""

    projects: list[ProjectOut]
    next_cursor: str | None = Field(description="null: this was the last page")
    damaged: int = Field(description="projects whose seal did not open; they are left out")

    @classmethod
    def of(cls, page: Projects) -> Self:
        projects = [
            ProjectOut(project=one.name, memories=one.memories, last_at=rfc3339(one.last_at), summary=one.summary)
            for one in page.projects
        ]
        return cls(projects=projects, next_cursor=page.next_cursor, damaged=page.damaged)


class LookOut(Shown):
    """One entry: a look at what is masked or at everything, or what allows it or ends it."""

    id: str
    at: str
    by: str = Field(description="owner; or auditor: and the subject of the auditor's token")
    action: Action = Field(
        description="read: a page, by an auditor; reveal: one secret; export: everything with its secrets; credentials_in_context: the "
        "setting was switched on; erase: the last erasure, which ended the life before"
    )
    memory_id: str | None = Field(description="which memory it was; null for all")
    reason: str | None = Field(description="the auditor's; null for the owner")

    @classmethod
    def of(cls, look: Look) -> Self:
        return cls(
            id=look.id,
            at=rfc3339(look.at),
            by=look.by,
            action=Action(look.action),
            memory_id=look.memory_id,
            reason=look.reason,
        )


class AuditOut(Shown):
    """A page of an owner's audit list, newest first."""

    entries: list[LookOut]
    next_cursor: str | None = Field(description="null: this was the last page")
    damaged: int = Field(description="entries whose seal did not open; they are left out")

    @classmethod
    def of(cls, looks: Looks) -> Self:
        entries = [LookOut.of(look) for look in looks.entries]
        return cls(entries=entries, next_cursor=looks.next_cursor, damaged=looks.damaged)
