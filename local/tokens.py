"""A token issuer for one machine: claims like Cognito's, signed with a key that lives as long as the process."""

from collections.abc import Callable, Sequence

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from local.resources import Authorizer

KEY_ID = "local"
_LIFETIME = 24 * 3600


class Issuer:
    """Signs tokens for the authorizers of one deployment; `clock` returns Unix seconds."""

    def __init__(self, authorizer: Authorizer, clock: Callable[[], float]) -> None:
        self._authorizer = authorizer
        self._clock = clock
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.public_keys = {KEY_ID: self._key.public_key()}

    def token(
        self,
        user: str,
        groups: Sequence[str] = (),
        *,
        sub: str | None = None,
        scope: str = "",
        lifetime: int = _LIFETIME,
    ) -> str:
        """An access token for a user name; `sub`, the owner's identity, is the user name unless given.

        Any text is taken as it is. `lifetime` in seconds may be negative, to get an expired token.
        """
        now = int(self._clock())
        claims: dict[str, object] = {
            "sub": user if sub is None else sub,
            "iss": self._authorizer.issuer,
            "client_id": self._authorizer.audience[0],
            "token_use": "access",
            "auth_time": now,
            "iat": now,
            "exp": now + lifetime,
            "username": user,
        }
        if groups:
            claims["cognito:groups"] = list(groups)
        if scope:
            claims["scope"] = scope
        return jwt.encode(claims, self._key, algorithm="RS256", headers={"kid": KEY_ID})
