"""The HTTP API's JWT authorizer: the checks and refusals that the API Gateway developer guide lists."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import jwt

from local.resources import Authorizer, Route

PublicKeys = Mapping[str, Any]


class Refused(Exception):
    """A request that the authorizer turns away: status 401 or 403 and the value of `www-authenticate`."""

    def __init__(self, status: int, challenge: str) -> None:
        super().__init__(status)
        self.status = status
        self.challenge = challenge


def _invalid(description: str) -> Refused:
    return Refused(401, f'Bearer scope="" error="invalid_token" error_description="{description}"')


def _claim_text(value: Any) -> str:
    """HTTP APIs hand claims on as strings: lists as [a b], booleans in lower case."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return f"[{' '.join(map(_claim_text, value))}]"
    return json.dumps(value)


def _audiences(claims: Mapping[str, Any]) -> list[Any]:
    named = claims.get("aud", claims.get("client_id"))
    return named if isinstance(named, list) else [named]


def _seconds(claims: Mapping[str, Any], name: str) -> float | None:
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _invalid(f"the token has an invalid {name}")
    return float(value)


def _check_times(claims: Mapping[str, Any], now: float) -> None:
    expires = _seconds(claims, "exp")
    if expires is None or expires <= now:
        raise _invalid("the token has expired")
    for name in ("nbf", "iat"):
        moment = _seconds(claims, name)
        if moment is not None and moment > now:
            raise _invalid("the token is not valid yet")


def _decode(token: str, keys: PublicKeys) -> dict[str, Any]:
    try:
        header = jwt.get_unverified_header(token)
        key = keys[header["kid"]]
        unchecked = {f"verify_{name}": False for name in ("exp", "nbf", "iat", "aud", "iss", "sub", "jti")}
        claims: dict[str, Any] = jwt.decode(token, key, algorithms=["RS256"], options=unchecked)  # type: ignore[arg-type]
    except (jwt.PyJWTError, KeyError, ValueError, TypeError):
        raise _invalid("the token has an invalid signature") from None
    return claims


def _scopes(claims: Mapping[str, Any]) -> list[str]:
    granted = claims.get("scope", claims.get("scp", ""))
    return granted.split() if isinstance(granted, str) else [str(one) for one in granted]


def authorize(
    route: Route, authorizer: Authorizer, header: str | None, keys: PublicKeys, clock: Callable[[], float]
) -> dict[str, Any]:
    """The `jwt` part of a request's context; `header` is the value of Authorization, with or without "Bearer ".

    Raises Refused.
    """
    if header is None or not header.strip():
        raise Refused(401, "Bearer")
    token = header.strip()
    if token[:7].lower() == "bearer ":
        token = token[7:].strip()
    claims = _decode(token, keys)
    if claims.get("iss") != authorizer.issuer:
        raise _invalid("the token has an invalid issuer")
    if not set(authorizer.audience) & {one for one in _audiences(claims) if isinstance(one, str)}:
        raise _invalid("the token does not have a valid audience")
    _check_times(claims, clock())
    granted = _scopes(claims)
    if route.scopes and not set(route.scopes) & set(granted):
        raise Refused(403, f'Bearer scope="{" ".join(route.scopes)}" error="insufficient_scope"')
    return {"claims": {name: _claim_text(value) for name, value in claims.items()}, "scopes": granted or None}
