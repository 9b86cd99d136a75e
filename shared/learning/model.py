"""The port to a language model, and what stands on both sides of it. shared/adapters/{bedrock,openai}.py implement it."""

from typing import Protocol

from shared.domain.asking import (
    Answer,
    Ask,
    ModelDown,
    ModelRefused,
    ModelThrottled,
    ModelTimeout,
    ModelUnavailable,
    Stop,
)

__all__ = [
    "Answer",
    "Ask",
    "Model",
    "ModelDown",
    "ModelRefused",
    "ModelThrottled",
    "ModelTimeout",
    "ModelUnavailable",
    "Stop",
]


class Model(Protocol):
    """Answers one question; keeps nothing of it.

    One attempt takes 30 s at most, all together `Ask.deadline`. What may pass (throttling, 5xx, a broken connection) is repeated
    here, twice at most and with jitter, and nowhere below; a slow model is not asked again. Callers need not repeat either: the
    queue delivers the task again.

    Raises ModelThrottled, ModelTimeout, ModelDown, or ModelRefused, which is permanent. Never raises for what the model
    says: an empty, cut, unwilling or senseless answer is an Answer.
    """

    def ask(self, ask: Ask) -> Answer: ...
