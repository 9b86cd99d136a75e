"""Cursors: where a list goes on, sealed with its owner's key and bound to the list and its filters.

A cursor of another owner, another list or other filters does not open; neither does an altered one.
"""

import base64
import binascii
from dataclasses import dataclass

from shared.crypto.keyring import MissingGeneration, OwnerKeys
from shared.domain.errors import InvalidCursor, SealBroken
from shared.domain.ids import Random

KIND = "cursor"
_GENERATION_BYTES = 4
CURSOR_CHARACTERS = 600


@dataclass(frozen=True, slots=True)
class Cursors:
    """Writes and reads cursors."""

    random: Random

    def write(self, keys: OwnerKeys, purpose: str, position: str | None) -> str | None:
        """Return the cursor for a position; None at the end. `purpose` names the list with all of its filters."""
        if position is None:
            return None
        sealed = keys.seal(KIND, keys.tag(KIND, purpose), 1, position.encode(), self.random)
        raw = keys.generation.to_bytes(_GENERATION_BYTES, "big") + sealed
        return base64.urlsafe_b64encode(raw).decode().rstrip("=")

    def read(self, keys: OwnerKeys, purpose: str, cursor: str | None) -> str | None:
        """Return the position; None at the beginning. Raises InvalidCursor."""
        if cursor is None:
            return None
        try:
            raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
            generation = int.from_bytes(raw[:_GENERATION_BYTES], "big")
            return keys.unseal(KIND, keys.tag(KIND, purpose), 1, generation, raw[_GENERATION_BYTES:]).decode()
        except (binascii.Error, ValueError, SealBroken, MissingGeneration):
            raise InvalidCursor from None

    def refuse(self, cursor: str | None) -> None:
        """Raise InvalidCursor for any cursor: who never stored anything was never given one."""
        if cursor is not None:
            raise InvalidCursor
