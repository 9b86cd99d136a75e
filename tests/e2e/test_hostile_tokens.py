"""Hostile callers: tokens that are none, identities of others, headers that try to be somebody."""

import base64
import hashlib
import hmac
import json
import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from local.stack import Stack
from local.tokens import KEY_ID
from tests.e2e.client import MEMORIES, Answer, Person, request

ROUTES = [
    ("GET", MEMORIES), ("POST", MEMORIES), ("POST", "/v1/search"), ("POST", "/v1/context"), ("GET", "/v1/tasks"),
    ("POST", "/v1/conversations"), ("GET", "/v1/settings"), ("PATCH", "/v1/settings"), ("GET", "/v1/usage"),
    ("GET", "/v1/projects"), ("GET", "/v1/audit"), ("GET", f"{MEMORIES}/{'0' * 26}"), ("DELETE", f"{MEMORIES}/{'0' * 26}"),
]  # fmt: skip


def ask(stack: Stack, authorization: str | None, method: str = "GET", path: str = MEMORIES) -> Answer:
    headers = {"content-type": "application/json"} | ({} if authorization is None else {"authorization": authorization})
    return request(stack, method, path, b"{}" if method in {"POST", "PATCH"} else None, headers)


def claims(stack: Stack, **changed: Any) -> dict[str, Any]:
    good = jwt.decode(stack.token("ann"), options={"verify_signature": False})
    return {name: value for name, value in (good | changed).items() if value is not None}


def signed(stack: Stack, payload: dict[str, Any], **headers: str) -> str:
    return jwt.encode(payload, stack.issuer._key, algorithm="RS256", headers={"kid": KEY_ID} | headers)


def part(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def signed_any(stack: Stack, payload: dict[str, Any]) -> str:
    """A well-signed token of any claims, also of those that the library would not sign."""
    unsigned = f"{part({'alg': 'RS256', 'kid': KEY_ID})}.{part(payload)}"
    signature = stack.issuer._key.sign(unsigned.encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{unsigned}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def forged(stack: Stack) -> dict[str, str]:
    good = stack.token("ann")
    head, body, signature = good.split(".")
    public = stack.issuer.public_keys[KEY_ID].public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    unsigned = f"{part({'alg': 'HS256', 'typ': 'JWT', 'kid': KEY_ID})}.{body}"
    mac = base64.urlsafe_b64encode(hmac.new(public, unsigned.encode(), hashlib.sha256).digest()).rstrip(b"=").decode()
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return {
        "nothing": "",
        "no token": "Bearer",
        "words": "Bearer let me in",
        "another scheme": "Basic YW5uOnBhc3N3b3Jk",
        "alg none": f"{part({'alg': 'none', 'kid': KEY_ID})}.{body}.",
        "alg none with signature": f"{part({'alg': 'None', 'kid': KEY_ID})}.{body}.{signature}",
        "public key as secret": f"{unsigned}.{mac}",
        "another key": jwt.encode(claims(stack), other, algorithm="RS256", headers={"kid": KEY_ID}),
        "another key id": signed(stack, claims(stack), kid="other"),
        "a key id that is a path": signed(stack, claims(stack), kid="../../dev/null"),
        "no key id": jwt.encode(claims(stack), stack.issuer._key, algorithm="RS256"),
        "another algorithm": jwt.encode(claims(stack), stack.issuer._key, algorithm="PS256", headers={"kid": KEY_ID}),
        "expired": signed(stack, claims(stack, exp=int(time.time()) - 1)),
        "no end": signed(stack, claims(stack, exp=None)),
        "an end in words": signed_any(stack, claims(stack) | {"exp": "never"}),
        "not yet": signed(stack, claims(stack, nbf=int(time.time()) + 3_600)),
        "another audience": signed(stack, claims(stack, client_id="other")),
        "no audience": signed(stack, claims(stack, client_id=None)),
        "another issuer": signed(stack, claims(stack, iss="https://issuer.example")),
        "an issuer like ours": signed(stack, claims(stack, iss=claims(stack)["iss"] + "/")),
        "no issuer": signed(stack, claims(stack, iss=None)),
        "another body": f"{head}.{part(claims(stack) | {'sub': 'bob'})}.{signature}",
        "cut": good[:-5],
        "two tokens": f"{good} {good}",
        "huge": "x" * 20_000,
    }


FORGERIES = [
    "nothing", "no token", "words", "another scheme", "alg none", "alg none with signature", "public key as secret", "another key",
    "another key id", "a key id that is a path", "no key id", "another algorithm", "expired", "no end", "an end in words", "not yet",
    "another audience", "no audience", "another issuer", "an issuer like ours", "no issuer", "another body", "cut", "two tokens", "huge",
]  # fmt: skip


@pytest.mark.parametrize("kind", FORGERIES)
def test_a_token_that_is_not_ours_opens_nothing(stack: Stack, kind: str) -> None:
    token = forged(stack)[kind]
    for value in (token, f"Bearer {token}"):
        answer = ask(stack, value)
        assert answer.status == 401, answer.text
        assert answer.json == {"message": "Unauthorized"}
        assert "www-authenticate" in answer.headers


def test_every_forgery_is_tried(stack: Stack) -> None:
    assert sorted(forged(stack)) == sorted(FORGERIES)


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_route_wants_a_token(stack: Stack, method: str, path: str) -> None:
    assert ask(stack, None, method, path).status == 401


@pytest.mark.parametrize("sub", [None, "", 7, ["ann"], {"a": 1}, True])
def test_a_token_that_names_nobody_is_nobodys(stack: Stack, sub: Any) -> None:
    """The gateway lets it through as text where it is signed; the service must not take the empty one for a person."""
    body = {name: value for name, value in claims(stack).items() if name != "sub"} | (
        {} if sub is None else {"sub": sub}
    )
    token = signed_any(stack, body)
    answer = ask(stack, f"Bearer {token}")
    assert answer.status in {200, 401}
    if sub in (None, ""):
        assert answer.status == 401
    if answer.status == 200:
        assert answer.json["memories"] == []


@pytest.mark.parametrize(
    "headers",
    [
        {"x-user-id": "bob", "x-owner": "bob", "x-amzn-oidc-identity": "bob"},
        {"x-forwarded-user": "bob", "x-forwarded-for": "10.0.0.1", "x-original-url": "/v1/settings"},
        {"x-http-method-override": "DELETE", "x-method-override": "DELETE"},
        {"x-amzn-request-context": '{"authorizer":{"jwt":{"claims":{"sub":"bob"}}}}'},
        {"cookie": "sub=bob; token=x", "forwarded": "for=bob"},
        {"host": "evil.example"},
        {"accept": "text/html", "accept-encoding": "zstd", "range": "bytes=0-1"},
        {"if-match": '"999"', "if-none-match": "*"},
    ],
)
def test_no_header_changes_who_is_asking_or_what(ann: Person, bob: Person, headers: dict[str, str]) -> None:
    ann.add("ann's fact")
    bob.add("bob's fact")
    named = {name: value.replace("bob", bob.sub) for name, value in headers.items()}
    answer = ann.call("GET", MEMORIES, headers=named)
    assert (answer.status, [one["content"] for one in answer.json["memories"]]) == (200, ["ann's fact"])
    assert answer.headers["content-type"] == "application/json"


def test_ids_cursors_and_keys_of_others_are_worth_nothing(ann: Person, bob: Person) -> None:
    mine = [ann.add(f"ann's fact {number}") for number in range(3)]
    bob.add("bob's fact")
    cursor = ann.ok("GET", MEMORIES, query={"limit": 1})["next_cursor"]
    assert bob.call("GET", MEMORIES, query={"limit": 1, "cursor": cursor}).code == "invalid_cursor"
    assert ann.call("GET", MEMORIES, query={"limit": 1, "order": "created", "cursor": cursor}).code == "invalid_cursor"
    assert ann.call("GET", "/v1/tasks", query={"cursor": cursor}).code == "invalid_cursor"
    for broken in (cursor[:-1], cursor + "A", cursor.swapcase(), "AAAA", "=", "%00", "x" * 1_000):
        answer = ann.call("GET", MEMORIES, query={"cursor": broken})
        assert answer.status == 422, broken
    for method, path, body in (
        ("GET", "", None), ("PATCH", "", {"importance": 1}), ("DELETE", "", None), ("GET", "/history", None),
        ("POST", "/reveal", None), ("POST", "/revert", {"version": 1}),
    ):  # fmt: skip
        assert bob.call(method, f"{MEMORIES}/{mine[0]['id']}{path}", body).code == "not_found"
    headers = {"Idempotency-Key": "shared"}
    first = ann.call("POST", MEMORIES, {"content": "keyed"}, headers=headers).json["id"]
    assert bob.call("POST", MEMORIES, {"content": "keyed"}, headers=headers).json["id"] != first
    assert len(ann.texts()) == 4


def test_the_same_subject_of_two_names_is_one_owner_and_a_name_is_none(stack: Stack, ann: Person) -> None:
    ann.add("ann's fact")
    assert Person(stack, "another name", ann.sub).texts() == ["ann's fact"]
    assert Person(stack, ann.name).texts() == []
    assert Person(stack, ann.name, f"{ann.sub} ").texts() == []
    assert Person(stack, ann.name, ann.sub.upper()).texts() == []
