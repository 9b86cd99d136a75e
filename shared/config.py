"""What the environment says, in parts: each is read once, on first use, because no function has all of them.

The names stand in template.yaml; a test compares both ways. Knows no adapter and no default that a deployer could want to change.
"""

import os
from dataclasses import dataclass
from functools import cache


class MissingSetting(Exception):
    """A variable that this function needs is not set; `name` may be logged."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the environment lacks {name}")
        self.name = name


@dataclass(frozen=True, slots=True)
class Storage:
    """Where memories lie: the table, the bucket, and the key that wraps owners' keys."""

    table_name: str
    bucket_name: str
    key_id: str


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one owner may keep; `active` 0: no limit."""

    active: int
    quota_bytes: int


@dataclass(frozen=True, slots=True)
class Model:
    """What reads conversations; every part may be empty."""

    provider: str
    model_id: str
    url: str
    api_key: str
    secret_arn: str


@dataclass(frozen=True, slots=True)
class Embeddings:
    """What compares meanings beside words; without a provider nothing does. `length` 0: the model's own."""

    provider: str
    model: str
    length: int
    url: str
    api_key: str
    secret_arn: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Logs:
    """What log lines say of this deployment, and from which level on they are written."""

    stage: str
    level: str


@cache
def storage() -> Storage:
    """Raises MissingSetting, as all of these do."""
    return Storage(_text("TABLE_NAME"), _text("BUCKET_NAME"), _text("KEY_ID"))


@cache
def bounds() -> Bounds:
    return Bounds(_number("ACTIVE_LIMIT"), _number("QUOTA_MEGABYTES") * 1_000_000)


@cache
def daily_conversations() -> int:
    """Conversations that one owner may hand in per day."""
    return _number("DAILY_CONVERSATION_LIMIT")


@cache
def work_queue() -> str:
    return _text("WORK_QUEUE_URL")


@cache
def maintenance_queue() -> str:
    return _text("MAINTENANCE_QUEUE_URL")


@cache
def model() -> Model:
    return Model(
        _given("MODEL_PROVIDER"),
        _given("MODEL_ID"),
        _given("MODEL_URL"),
        _given("MODEL_API_KEY"),
        _given("MODEL_SECRET_ARN"),
    )


@cache
def embeddings() -> Embeddings:
    return Embeddings(
        _given("EMBEDDING_PROVIDER"),
        _given("EMBEDDING_MODEL"),
        _number("EMBEDDING_LENGTH"),
        _given("EMBEDDING_URL"),
        _given("EMBEDDING_API_KEY"),
        _given("EMBEDDING_SECRET_ARN"),
        _number("EMBEDDING_MILLISECONDS") / 1_000,
    )


@cache
def context_seconds() -> float:
    """Within which a context is answered, whatever happens."""
    return _number("CONTEXT_MILLISECONDS") / 1_000


@cache
def permission_claim() -> str:
    """The claim of a token that grants permissions."""
    return _text("PERMISSION_CLAIM")


@cache
def logs() -> Logs:
    return Logs(_text("STAGE"), _text("LOG_LEVEL"))


def _given(name: str) -> str:
    """Return the variable, which may be empty but must be declared."""
    value = os.environ.get(name)
    if value is None:
        raise MissingSetting(name)
    return value


def _text(name: str) -> str:
    value = _given(name)
    if not value:
        raise MissingSetting(name)
    return value


def _number(name: str) -> int:
    value = _text(name)
    if not value.isdecimal():
        raise MissingSetting(name)
    return int(value)
