"""The name of an owner: a hash of who the token's issuer says is speaking. Pure."""

import hashlib

from shared.crypto.sealing import base32, joined
from shared.domain.errors import Forbidden


def owner_name(issuer: str, subject: str) -> str:
    """Return 52 characters a-z2-7: base32 of SHA-256 over length-prefixed issuer and subject [SEAL-11].

    The two are opaque: never trimmed, folded or normalised, so lookalikes are different owners and no
    character of them reaches a key, a path or a queue. Raises Forbidden when one is empty or holds a lone surrogate.
    """
    if not issuer or not subject:
        raise Forbidden("This token names nobody.")
    try:
        return base32(hashlib.sha256(joined(issuer, subject)).digest())
    except ValueError:
        raise Forbidden("This token names nobody.") from None
