"""The wire form of an answer: what a model is asked to write. Its JSON schema goes to the model; reading is more tolerant."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class _Asked(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FactAsked(_Asked):
    """One fact, as the model is asked to write it."""

    content: str = Field(description="One self-contained sentence in the person's language")
    type: Literal["user", "project"]
    category: Literal["preference", "decision", "constraint", "credential", "event", "knowledge", "contact"]
    importance: int = Field(ge=1, le=10)
    action: Literal["insert", "touch", "update"]
    target: str | None = Field(default=None, description="The number of a known memory, for touch and update only")


class ExperienceAsked(_Asked):
    """What an agent tried and how it ended, as the model is asked to write it."""

    situation: str
    action: str
    outcome: str


class AnswerAsked(_Asked):
    """The whole answer, as the model is asked to write it."""

    summary: str
    facts: list[FactAsked]
    experiences: list[ExperienceAsked] = Field(default_factory=list)
