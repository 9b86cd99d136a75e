"""The persona and suggestions as they travel."""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field

from shared.domain.ids import ulid_time
from shared.domain.task import TaskStatus
from shared.domain.times import rfc3339
from shared.models.forms import Change, Shown
from shared.storage.persona import STRUCTURED, TRAITS, Persona
from shared.storage.suggestions import Decision, Kind, Suggestion


class StatementOut(Shown):
    """One thing that is known of the person, and the memories that it rests on."""

    part: str = Field(description="traits, or a part of structured")
    text: str
    memory_ids: list[str] = Field(description="it is shown only while all of them stand")


class StructuredOut(Shown):
    """What is known, by part; empty where nothing is."""

    role: list[str]
    experience: list[str]
    languages: list[str]
    frameworks: list[str]
    databases: list[str]
    tools: list[str]
    code_style: list[str]
    focus_areas: list[str]
    work_hours: list[str]
    active_projects: list[str]
    communication: list[str] = Field(description="how the person wants to be answered")
    constraints: list[str]
    credential_habits: list[str] = Field(description="how secrets are kept; never a secret")


class PersonaOut(Shown):
    """The portrait of the person; empty until there is one. Deleting or dismissing a memory hides at once what rests on it."""

    traits: str = Field(description="prose, by a model; empty without one")
    structured: StructuredOut
    statements: list[StatementOut]
    fact_count: int = Field(description="facts that it was made from, 200 at most")
    last_scene: str | None = Field(description="the project that was spoken of last")
    model: str | None = Field(description="what made it: a model and a prompt's version, or the rules")
    refreshed_at: str | None = Field(description="when the facts were read; null: there is none yet")

    @classmethod
    def of(cls, persona: Persona) -> Self:
        texts = {part: [one.text for one in persona.statements if one.part == part] for part in (TRAITS, *STRUCTURED)}
        return cls(
            traits=_prose(texts.pop(TRAITS)),
            structured=StructuredOut(**texts),
            statements=[
                StatementOut(part=one.part, text=one.text, memory_ids=list(one.basis)) for one in persona.statements
            ],
            fact_count=persona.fact_count,
            last_scene=persona.last_scene,
            model=persona.model,
            refreshed_at=persona.refreshed_at,
        )


class RefreshOut(Shown):
    """202: maintenance makes the persona anew."""

    task_id: str = Field(description="ask GET /v1/tasks/{task_id} how far it is")
    status: TaskStatus = Field(description="of the task as it is now")


class SuggestionOut(Shown):
    """A way of working that repeats. An accepted one is told in contexts."""

    id: str
    kind: Kind
    title: str
    text: str = Field(description="500 characters at most")
    status: Decision
    evidence: int = Field(description="memories that were alike")
    memory_ids: list[str] = Field(
        description="the newest of them, ten at most; it is shown only while all of them stand"
    )
    agent: str | None = Field(description="it is of this agent's experience, and told to no other")
    project: str | None = Field(description="it is of this project, and told in no other")
    created_at: str

    @classmethod
    def of(cls, one: Suggestion) -> Self:
        return cls(
            id=one.id,
            kind=one.kind,
            title=one.title,
            text=one.text,
            status=one.status,
            evidence=one.evidence,
            memory_ids=list(one.basis),
            agent=one.agent,
            project=one.project,
            created_at=rfc3339(ulid_time(one.id)),
        )


class SuggestionsOut(Shown):
    """A page of suggestions, newest first; it may hold fewer than asked for and still have a cursor."""

    suggestions: list[SuggestionOut]
    next_cursor: str | None = Field(description="null: this was the last page")

    @classmethod
    def of(cls, found: list[Suggestion], next_cursor: str | None) -> Self:
        return cls(suggestions=[SuggestionOut.of(one) for one in found], next_cursor=next_cursor)


class SuggestionPatch(Change):
    """What its owner decides; it may be decided anew."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"status": "accepted"}]})

    status: Annotated[
        Literal[Decision.ACCEPTED, Decision.DISMISSED],
        Field(description="dismissed: nothing like it is suggested again"),
    ]


def _prose(sentences: list[str]) -> str:
    """Join sentences; a Latin one is followed by a space."""
    joined = ""
    for sentence in sentences:
        joined += (" " if joined and joined[-1].isascii() else "") + sentence
    return joined
