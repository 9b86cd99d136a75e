"""Every error of the service.

NacreError
├── BadRequest 400                  bad_request          the request cannot be read at all
├── Unauthorized 401                unauthorized         no verified token came with the request
├── Forbidden 403                   forbidden            the token does not carry the permission
├── NotFound 404                    not_found            not there, or not yours: the same answer
├── Conflict 409
│   ├── Duplicate                   duplicate            the same text is already a memory
│   ├── ActiveLimitReached          active_limit_reached
│   ├── IdempotencyKeySpent         idempotency_key_spent
│   └── NotPossibleNow              not_possible_now     the thing is not in a state that allows it
├── VersionMismatch 412             version_mismatch     If-Match does not name the stored version
├── TooLarge 413                    too_large
├── UnsupportedMediaType 415        unsupported_media_type
├── Invalid 422                     invalid              a field is wrong; details say which
│   ├── DamagedFile                 damaged_file         its lines do not give what its manifest says
│   ├── InvalidCursor               invalid_cursor
│   └── IdempotencyKeyReused        idempotency_key_reused
├── DailyLimitReached 429           daily_limit_reached
├── QuotaExceeded 507               quota_exceeded
└── Unavailable 503
    ├── Busy                        busy                 too many writers at once; try again
    ├── Damaged                     damaged              what is stored of it does not open, and waits to be restored from the journal
    └── TableLost                   rebuilding           the table waits to be rebuilt from the journal
InternalError 500                   internal             ours; only shared/http.py makes it

Faults inside the service, never an answer:
Refused             a conditional write found another state
AlreadyThere        an object of that name exists
Changed             an object is not the one that was read
SealBroken          stored bytes do not open: wrong place, wrong key, tampered, truncated or unknown format; shared/http.py answers Damaged
KeysBroken          the same of an owner's keys, or the key service refuses: answered as InternalError

Messages never hold text of memories, keys, names of resources or texts of other exceptions.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self


class NacreError(Exception):
    """What a caller did wrong or must wait for: `status`, `code` and a message that says what to do."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal"
    message: ClassVar[str] = "Something went wrong on our side."

    def __init__(
        self, message: str | None = None, *, details: Mapping[str, Any] | Sequence[Mapping[str, str]] | None = None
    ) -> None:
        super().__init__(message or self.message)
        self.details = details or None


class BadRequest(NacreError):
    status, code, message = 400, "bad_request", "The body is not valid JSON in UTF-8."


class Unauthorized(NacreError):
    status, code, message = 401, "unauthorized", "Send a valid token in the header Authorization."


class Forbidden(NacreError):
    status, code, message = 403, "forbidden", "This token does not carry the permission."


class NotFound(NacreError):
    status, code, message = 404, "not_found", "There is nothing of yours here."


class Conflict(NacreError):
    status, code, message = 409, "conflict", "The request conflicts with what is stored."


class Duplicate(Conflict):
    code, message = "duplicate", "The same text is already one of your memories; details name it."


class ActiveLimitReached(Conflict):
    code = "active_limit_reached"
    message = "You have as many active memories as this service keeps. Delete or dismiss some, then add again."


class IdempotencyKeySpent(Conflict):
    code = "idempotency_key_spent"
    message = "What this Idempotency-Key made has been deleted since. Use a new key to make it again."


class NotPossibleNow(Conflict):
    code, message = "not_possible_now", "This is not possible in its present state."


class VersionMismatch(NacreError):
    status, code = 412, "version_mismatch"
    message = "It was changed since you read it. Read it again and repeat with its new ETag."


class TooLarge(NacreError):
    status, code, message = 413, "too_large", "The request is larger than this service takes."


class UnsupportedMediaType(NacreError):
    status, code = 415, "unsupported_media_type"
    message = "Send the body as application/json in UTF-8."


class Invalid(NacreError):
    status, code, message = 422, "invalid", "A field is not valid; details say which."

    @classmethod
    def of(cls, field: str, problem: str) -> Self:
        """Return the error of one field; its details are a list of fields and problems."""
        return cls(details=[{"field": field, "problem": problem}])


class ConfirmationNeeded(Invalid):
    code = "confirmation_needed"
    message = 'This cannot be taken back. Send "confirm": true when it is meant.'


class DamagedFile(Invalid):
    code = "damaged_file"
    message = "This file is not whole: a line was lost, changed or moved. Export it again, or send all of its pages."


class InvalidCursor(Invalid):
    code = "invalid_cursor"
    message = "This cursor belongs to another list or owner, or is no longer valid. Begin again without it."


class IdempotencyKeyReused(Invalid):
    code = "idempotency_key_reused"
    message = "This Idempotency-Key was used for a different request. Use a new key."


class DailyLimitReached(NacreError):
    status, code = 429, "daily_limit_reached"
    message = "The daily limit of conversations is reached; details say when it ends."


class QuotaExceeded(NacreError):
    status, code = 507, "quota_exceeded"
    message = "Your storage is full. Reading and deleting go on; delete or forget memories to make room."


class Unavailable(NacreError):
    status, code, message = 503, "unavailable", "Not available for the moment; try again shortly."


class Busy(Unavailable):
    code, message = "busy", "Too many changes at once. Try again shortly."


class Damaged(Unavailable):
    code = "damaged"
    message = (
        "What is stored of this does not open: it was changed or lost. It is being restored from the journal; try again in a few "
        "minutes. It can be deleted or replaced meanwhile."
    )


class TableLost(Unavailable):
    code = "rebuilding"
    message = "Your memories are being rebuilt from the journal; nothing can be written until that is done."


class InternalError(NacreError):
    """The answer for everything unexpected; its details hold an opaque id that the logs know."""


class Refused(Exception):
    """A conditional write found another state.

    `items` maps the position of each failed write to the item that stood there (None: none did).
    """

    def __init__(self, items: Mapping[int, Mapping[str, Any] | None]) -> None:
        super().__init__("a condition of the write does not hold")
        self.items = dict(items)


class AlreadyThere(Exception):
    """An object of that name exists and is not this caller's own earlier attempt."""


class Changed(Exception):
    """The object is not the one that was read: its ETag moved, or it is gone."""


class SealBroken(Exception):
    """Stored bytes do not open. One error for every reason, so that nothing can be learnt by trying."""


class KeysBroken(SealBroken):
    """An owner's keyring, or a key in it, does not open: no journal can mend that, so it is never told as damage that passes."""
