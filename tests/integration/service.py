"""The real handler of `memories`, called with API Gateway events, over the real adapters on an emulated AWS."""

import base64
import json
import urllib.parse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from shared import bootstrap, config, observability
from shared.bootstrap import keeping
from tests.contract.aws import BUCKET, TABLE, Aws, emulated

ISSUER = "https://issuer.example"
NOBODY: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Answer:
    """What the handler returned."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def code(self) -> str:
        code: str = self.json["error"]["code"]
        return code


def event(
    method: str,
    path: str,
    *,
    body: str | bytes | None = None,
    headers: Mapping[str, str] | None = None,
    query: Mapping[str, str] | str | None = None,
    claims: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return an event of payload format 2.0; a body of bytes is sent as base64. Without claims it carries no authorizer."""
    raw_query = query if isinstance(query, str) else urllib.parse.urlencode(query or {})
    parameters = urllib.parse.parse_qs(raw_query, keep_blank_values=True)
    context: dict[str, Any] = {
        "accountId": "123456789012",
        "apiId": "api",
        "domainName": "api.example",
        "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1", "userAgent": "test"},
        "requestId": "request-1",
        "routeKey": f"{method} /v1/{{proxy+}}",
        "stage": "$default",
        "time": "30/Nov/2026:16:05:00 +0000",
        "timeEpoch": 1796054700000,
    }
    if claims:
        context["authorizer"] = {"jwt": {"claims": dict(claims), "scopes": None}}
    made: dict[str, Any] = {
        "version": "2.0",
        "routeKey": context["routeKey"],
        "rawPath": path,
        "rawQueryString": raw_query,
        "headers": {name.lower(): value for name, value in (headers or {}).items()},
        "requestContext": context,
        "isBase64Encoded": isinstance(body, bytes),
    }
    if parameters:
        made["queryStringParameters"] = {name: ",".join(values) for name, values in parameters.items()}
    if body is not None:
        made["body"] = base64.b64encode(body).decode() if isinstance(body, bytes) else body
    return made


@dataclass(frozen=True)
class Service:
    """A running service; users are named by the subject of their token."""

    aws: Aws

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        user: str = "ann",
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | str | None = None,
        claims: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Send a request; a body that is not text or bytes is sent as JSON."""
        raw = body if body is None or isinstance(body, str | bytes) else json.dumps(body, ensure_ascii=False)
        sent = {"Content-Type": "application/json"} if raw is not None else {}
        made = event(
            method,
            path,
            body=raw,
            headers=sent | dict(headers or {}),
            query=query,
            claims={"iss": ISSUER, "sub": user} if claims is None else claims,
        )
        return self.send(made)

    def send(self, made: Mapping[str, Any]) -> Answer:
        """Send an event as it is."""
        from functions.memories.app import handler

        answer = handler(dict(made), None)
        return Answer(answer["statusCode"], answer["headers"], answer["body"] or "")

    def add(self, content: str, *, user: str = "ann", **more: Any) -> dict[str, Any]:
        """Add a memory and return it."""
        answer = self.call("POST", "/v1/memories", {"content": content, **more}, user=user)
        assert answer.status == 201, answer.text
        made: dict[str, Any] = answer.json
        return made

    def raw_bytes(self) -> bytes:
        """Return every stored byte of table and bucket, all versions."""
        parts: list[bytes] = []
        for page in self.aws.dynamodb.get_paginator("scan").paginate(TableName=TABLE):
            parts += [repr(item).encode() for item in page["Items"]]
            parts += [bytes(value) for item in page["Items"] for kind in item.values() for value in _binaries(kind)]
        for version in self.aws.s3.list_object_versions(Bucket=BUCKET).get("Versions", []):
            key = version["Key"]
            parts.append(key.encode())
            parts.append(self.aws.s3.get_object(Bucket=BUCKET, Key=key, VersionId=version["VersionId"])["Body"].read())
        return b"\n".join(parts)


def _binaries(kind: Any) -> list[bytes]:
    return [kind["B"]] if "B" in kind else []


def environment(aws: Aws) -> dict[str, str]:
    """Return what template.yaml gives the function `memories`."""
    return {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "eu-central-1",
        "STAGE": "test",
        "LOG_LEVEL": "INFO",
        "TABLE_NAME": TABLE,
        "BUCKET_NAME": BUCKET,
        "KEY_ID": aws.key_id,
        "WORK_QUEUE_URL": aws.url,
        "MAINTENANCE_QUEUE_URL": aws.url,
        "ACTIVE_LIMIT": "200",
        "QUOTA_MEGABYTES": "100",
        "DAILY_CONVERSATION_LIMIT": "500",
    }


@contextmanager
def started(patch: pytest.MonkeyPatch, **changed: str) -> Iterator[Service]:
    """Start the service on an empty account, as a fresh process with that environment would."""
    with emulated() as aws:
        for name, value in (environment(aws) | changed).items():
            patch.setenv(name, value)
        forget()
        yield Service(aws)
        forget()


def forget() -> None:
    """Do what a new process does: nothing is built yet. Clients are slow to make and stay."""
    for module in (bootstrap, keeping, config, observability):
        for name, thing in vars(module).items():
            if hasattr(thing, "cache_clear") and name != "_client":
                thing.cache_clear()
