"""The key of a model endpoint: given by the environment, or read from Secrets Manager and kept for minutes. No text here shows it."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

from shared.adapters.attempts import Monotonic, Passing
from shared.adapters.faults import FAULTS, LOST, THROTTLED, code
from shared.domain.asking import ModelDown, ModelRefused

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

KEPT_SECONDS: Final = 300.0
FIELD: Final = "api_key"
_PASSING: Final = THROTTLED | {"InternalServiceError", "ServiceUnavailable", "InternalFailure"}


class ApiKey(Protocol):
    """Gives the key, empty when the endpoint wants none. Raises ModelRefused when it cannot be had, Passing when it may be had later."""

    def read(self) -> str: ...

    def renewed(self, used: str) -> bool:
        """Tell whether the key has changed since `used` was read; asks again. For keys that an endpoint has just refused."""
        ...


class GivenKey:
    """A key that stays as it is for the life of the process; may be empty."""

    def __init__(self, key: str) -> None:
        self._key = key.strip()

    def read(self) -> str:
        return sendable(self._key)

    def renewed(self, used: str) -> bool:
        return self.read() != used


class SecretKey:
    """A key in Secrets Manager: the whole secret string, or the field `api_key` of a JSON object. Kept for KEPT_SECONDS."""

    def __init__(self, client: "Callable[[], SecretsManagerClient]", arn: str, clock: Monotonic) -> None:
        self._client = client
        self._arn = arn
        self._clock = clock
        self._kept: tuple[str, float] | None = None

    def read(self) -> str:
        if self._kept is None or self._clock() - self._kept[1] >= KEPT_SECONDS:
            self._kept = (self._fetch(), self._clock())
        return self._kept[0]

    def renewed(self, used: str) -> bool:
        self._kept = None
        return self.read() != used

    def _fetch(self) -> str:
        try:
            secret = self._client().get_secret_value(SecretId=self._arn).get("SecretString", "")
        except FAULTS as fault:
            if isinstance(fault, LOST) or code(fault) in _PASSING:
                raise Passing(ModelDown()) from None
            raise ModelRefused from None
        key = sendable(_key_in(secret.strip()))
        if not key:
            raise ModelRefused
        return key


def _key_in(secret: str) -> str:
    if not secret.startswith("{"):
        return secret
    try:
        fields = json.loads(secret)
    except ValueError:
        return ""
    return str(fields.get(FIELD, "")).strip()


def sendable(key: str) -> str:
    """Return the key if it can stand in a header; libraries quote what they refuse. Raises ModelRefused."""
    if not (key.isascii() and key.isprintable()):
        raise ModelRefused
    return key
