"""The local gateway's JWT authorizer: who is let in, who is refused and how, what a function learns of a caller."""

from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from local.gateway import Request
from tests.integration.local_api import AUTHORIZER, NOW, Api, api, echo, event_of, header, route


def claims(**changed: Any) -> dict[str, Any]:
    whole = {"iss": AUTHORIZER.issuer, "client_id": "client", "sub": "ann", "iat": NOW - 1, "exp": NOW + 60, **changed}
    return {name: value for name, value in whole.items() if value is not None}


def signed(ours: Api, **changed: Any) -> str:
    return jwt.encode(claims(**changed), ours.issuer._key, algorithm="RS256", headers={"kid": "local"})


@pytest.mark.parametrize(
    "changed",
    [
        {"exp": NOW - 1},
        {"exp": None},
        {"exp": "soon"},
        {"nbf": NOW + 10},
        {"iat": NOW + 10},
        {"iss": "https://issuer.example/"},
        {"iss": None},
        {"client_id": "stranger"},
        {"aud": "stranger"},
        {"client_id": None},
    ],
    ids=str,
)
def test_a_token_that_fails_a_check_is_refused(changed: dict[str, Any]) -> None:
    ours = api(echo)
    response = ours.send("GET", "/v1/a", token=signed(ours, **changed))
    assert (response.status, response.body) == (401, b'{"message":"Unauthorized"}')
    assert (header(response, "www-authenticate") or "").startswith('Bearer scope="" error="invalid_token"')


@pytest.mark.parametrize(
    "changed", [{}, {"aud": "other-client", "client_id": "stranger"}, {"aud": ["x", "client"]}], ids=str
)
def test_a_token_for_one_of_the_audiences_is_accepted(changed: dict[str, Any]) -> None:
    ours = api(echo)
    assert ours.send("GET", "/v1/a", token=signed(ours, **changed)).status == 200


def test_tokens_of_another_key_another_algorithm_or_none_are_refused() -> None:
    ours = api(echo)
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    forged = [
        jwt.encode(claims(), stranger, algorithm="RS256", headers={"kid": "local"}),
        jwt.encode(claims(), stranger, algorithm="RS256", headers={"kid": "stranger"}),
        jwt.encode(claims(), "a secret of thirty-two bytes or more", algorithm="HS256", headers={"kid": "local"}),
        jwt.encode(claims(), "", algorithm="none", headers={"kid": "local"}),
        "not.a.token",
        "中文",
    ]
    assert {ours.send("GET", "/v1/a", token=token).status for token in forged} == {401}


def test_a_missing_token_gets_a_bare_challenge() -> None:
    response = api(echo).send("GET", "/v1/a", token=None)
    assert (response.status, header(response, "www-authenticate")) == (401, "Bearer")


def test_a_token_without_the_word_bearer_is_accepted() -> None:
    ours = api(echo)
    request = Request("GET", "/v1/a", (("authorization", ours.issuer.token("ann")),), b"")
    assert ours.gateway.answer(request).status == 200


def test_a_route_with_scopes_wants_one_of_them() -> None:
    ours = api(echo, route("GET", "/v1/a", scopes=("memory:read", "admin")))
    assert ours.send("GET", "/v1/a", token=ours.issuer.token("ann", scope="admin other")).status == 200
    refused = ours.send("GET", "/v1/a", token=ours.issuer.token("ann", scope="other"))
    assert (refused.status, refused.body) == (403, b'{"message":"Forbidden"}')


def test_claims_arrive_as_strings_and_lists_in_brackets() -> None:
    ours = api(echo)
    token = signed(ours, flag=True, **{"cognito:groups": ["a", "b"]})
    identity = event_of(ours.send("GET", "/v1/a", token=token))["requestContext"]["authorizer"]["jwt"]
    assert identity["claims"]["cognito:groups"] == "[a b]"
    assert identity["claims"]["flag"] == "true"
    assert identity["claims"]["exp"] == str(NOW + 60)
    assert identity["scopes"] is None


@pytest.mark.parametrize("sub", ["..", "\u00e9", "e\u0301", "a/b", "中文 \U0001f600", ""])
def test_any_subject_arrives_unchanged(sub: str) -> None:
    ours = api(echo)
    token = ours.issuer.token("ann", sub=sub)
    event = event_of(ours.send("GET", "/v1/a", token=token))
    assert event["requestContext"]["authorizer"]["jwt"]["claims"]["sub"] == sub
