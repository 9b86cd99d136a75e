"""What AWS answers instead of a result, told apart by code. No text of an answer goes on: it may quote what was sent."""

from collections.abc import Callable
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, IncompleteReadError
from botocore.exceptions import ConnectionError as NoConnection

from shared.domain.errors import Unavailable

FAULTS: Final = (ClientError, BotoCoreError)
LOST: Final = (NoConnection, HTTPClientError, IncompleteReadError)
"""No answer arrived: the call may have been done or not."""
THROTTLED: Final = frozenset(
    {
        "LimitExceededException",
        "ProvisionedThroughputExceeded",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "SlowDown",
        "Throttling",
        "ThrottlingError",
        "ThrottlingException",
        "TooManyRequestsException",
    }
)

Sleep = Callable[[float], None]
"""Wait for so many seconds."""


class Unexpected(Exception):
    """A service refused for a reason that no caller can handle; names the call and the code, nothing else."""


def code(fault: Exception) -> str:
    """Return the short error code, such as `NoSuchKey`, without its namespace; for other faults their type's name."""
    if isinstance(fault, ClientError):
        return str(fault.response.get("Error", {}).get("Code", "")).rsplit(".", maxsplit=1)[-1].split("#")[-1]
    return type(fault).__name__


def retried(fault: Exception) -> bool:
    """Tell whether the SDK sent the request more than once, so that an earlier attempt may have been done."""
    return (
        isinstance(fault, ClientError) and int(fault.response.get("ResponseMetadata", {}).get("RetryAttempts", 0)) > 0
    )


def translated(call: str, fault: Exception) -> Exception:
    """Return what to raise for a fault without a meaning of its own: Unavailable if it may pass, else Unexpected."""
    if isinstance(fault, LOST) or code(fault) in THROTTLED:
        return Unavailable()
    if isinstance(fault, ClientError):
        status = int(fault.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
        if status >= 500:
            return Unavailable()
    return Unexpected(f"{call}: {code(fault)}")


def pause(attempt: int, random: Callable[[int], bytes], *, base: float = 0.02, most: float = 1.0) -> float:
    """Return seconds to wait before the next attempt: exponential with full jitter (AWS Architecture Blog, 2015)."""
    fraction = int.from_bytes(random(4), "big") / 2**32
    return float(fraction * min(most, base * 2**attempt))
