"""What a language model is asked, what it answers, and how asking fails. Knows no provider and no wire format.

Unavailable
└── ModelUnavailable     model_unavailable   any of these; nothing was learned and nothing is lost
    ├── ModelThrottled   model_throttled     the provider asks for patience
    ├── ModelTimeout     model_timeout       no whole answer within the time that was given
    ├── ModelDown        model_down          no connection, 5xx, or an answer that is not the provider's protocol
    └── ModelRefused     model_rejected      4xx: key, model, address or request; asking again changes nothing

These never answer a request: only the queue's worker asks. Their codes are what an owner reads on the task.
Messages name nothing of the question, the answer, the address or the key.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from shared.domain.errors import Unavailable

Stop = Literal["end", "length", "refused", "tool"]
"""Why a model stopped: by itself, out of tokens, unwilling (its own refusal, or a filter before or after it), or with a tool call."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One question. `schema` is the JSON schema of the answer; `deadline` the seconds that all attempts together may take."""

    system: str = field(repr=False)
    user: str = field(repr=False)
    schema: Mapping[str, Any] = field(repr=False)
    max_tokens: int
    deadline: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back.

    `text` is the answer as it was sent, as JSON when it came as a tool's input; empty when there was none. Reasoning that came
    apart from the answer is not in it. Tokens count the attempt that was answered, 0 where the provider does not say.
    `model` is the id that was asked for.
    """

    text: str = field(repr=False)
    stop: Stop
    tokens_in: int
    tokens_out: int
    model: str


class ModelUnavailable(Unavailable):
    """`answered` is the HTTP status of the provider's answer, for the operator's log; None when nothing came or nothing was asked."""

    code, message = "model_unavailable", "The model did not answer."

    def __init__(self, answered: int | None = None) -> None:
        super().__init__()
        self.answered = answered


class ModelThrottled(ModelUnavailable):
    code, message = "model_throttled", "The model's provider limits how often it may be asked."


class ModelTimeout(ModelUnavailable):
    code, message = "model_timeout", "The model did not answer in time."


class ModelDown(ModelUnavailable):
    code, message = "model_down", "The model cannot be reached or does not work."


class ModelRefused(ModelUnavailable):
    code, message = "model_rejected", "The model's provider does not take the key, the model's name or the request."
