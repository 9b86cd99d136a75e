"""Looks for texts in the raw bytes that a stack holds and in everything that was ever sent to AWS.

A text is looked for in every form of `forms`; a piece of bytes is read in every way of `readings`. Knows no key: it sees
what somebody sees who owns the account but may not ask the key service.
"""

import base64
import binascii
import json
import re
import urllib.parse
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from botocore import handlers
from moto.sqs.models import sqs_backends

from local.emulation.patches import Patches
from local.resources import ACCOUNT, REGION
from local.stack import Stack
from shared.storage.dictionary import DICTIONARIES

SHORTEST = 6
"""Bytes of a form; shorter ones stand in ciphertext by chance."""
_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")
_OFFSETS = 48
"""How far into a piece a deflated stream is looked for: longer than any header we write."""
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{16,}")
_INFLATED = 1_000_000


@dataclass(frozen=True)
class Piece:
    """Bytes, and where they were: bucket, table, queue or wire."""

    place: str
    raw: bytes


@dataclass(frozen=True)
class Found:
    """A text that can be read: the text, where, and in which form."""

    text: str
    place: str
    form: str


def forms(text: str) -> dict[str, bytes]:
    """Return the text's bytes by the name of their form: three encodings, each plain, base64 and hexadecimal; JSON and URL escapes."""
    found: dict[str, bytes] = {}
    for encoding in _ENCODINGS:
        raw = text.encode(encoding)
        found[encoding] = raw
        found[f"{encoding} hex"] = raw.hex().encode()
        for shift in range(3):
            found[f"{encoding} base64+{shift}"] = _aligned(raw, shift)
            found[f"{encoding} base64url+{shift}"] = _aligned(raw, shift).translate(bytes.maketrans(b"+/", b"-_"))
    found["json"] = json.dumps(text)[1:-1].encode()
    found["url"] = urllib.parse.quote(text, safe="").encode()
    found["casefolded"] = text.casefold().encode()
    different: dict[bytes, str] = {}
    for name, raw in found.items():
        different.setdefault(raw, name)
    return {name: raw for raw, name in different.items() if len(raw) >= SHORTEST}


def _aligned(raw: bytes, shift: int) -> bytes:
    """The characters that stand in any base64 text which holds `raw` after 3n + shift bytes."""
    encoded = base64.b64encode(b"\0" * shift + raw)
    start, open_end = (0, 2, 3)[shift], (0, 3, 2)[(len(raw) + shift) % 3]
    return encoded[start : len(encoded) - open_end]


def readings(raw: bytes) -> Iterator[bytes]:
    """Yield the bytes, what base64 in them says, and what either inflates to (with our dictionaries or none)."""
    decoded = [raw, *(one for run in _BASE64.findall(raw) if (one := _decoded(run)))]
    for layer in decoded:
        yield layer
        yield from _inflated(layer)


def _decoded(run: bytes) -> bytes:
    try:
        return base64.b64decode(run[: len(run) // 4 * 4].translate(bytes.maketrans(b"-_", b"+/")))
    except binascii.Error:
        return b""


def _inflated(raw: bytes) -> Iterator[bytes]:
    for offset in range(min(_OFFSETS, len(raw))):
        for dictionary in (b"", *DICTIONARIES.values()):
            try:
                plain = zlib.decompressobj(-zlib.MAX_WBITS, dictionary).decompress(raw[offset:], _INFLATED)
            except zlib.error:
                continue
            if len(plain) >= SHORTEST:
                yield plain


def search(pieces: Iterable[Piece], texts: Iterable[str]) -> list[Found]:
    """Return where which text can be read; one entry per text, place and form, in the order they were met."""
    wanted = [(text, name, raw) for text in texts for name, raw in forms(text).items()]
    found: dict[Found, None] = {}
    for place, piece in dict.fromkeys((piece.place, piece.raw) for piece in pieces):
        for number, reading in enumerate(readings(piece)):
            for text, name, raw in wanted:
                if raw in reading and not (number and _in_dictionary(raw)):
                    found[Found(text, place, f"{name}, unpacked" if number else name)] = None
    return list(found)


def _in_dictionary(raw: bytes) -> bool:
    """Ciphertext taken for a deflated stream inflates to pieces of the dictionary by chance."""
    return any(raw in dictionary for dictionary in DICTIONARIES.values())


def bucket(stack: Stack) -> list[Piece]:
    """Every version of every object of every bucket: name, headers and body."""
    s3, pieces = stack.clients.s3, []
    for name in (one["Name"] for one in s3.list_buckets()["Buckets"]):
        for page in s3.get_paginator("list_object_versions").paginate(Bucket=name):
            pieces += [Piece("bucket", one["Key"].encode()) for one in page.get("DeleteMarkers", [])]
            for one in page.get("Versions", []):
                answer = s3.get_object(Bucket=name, Key=one["Key"], VersionId=one["VersionId"])
                told = json.dumps([one["Key"], answer["ResponseMetadata"]["HTTPHeaders"]], ensure_ascii=False)
                pieces += [Piece("bucket", answer["Body"].read()), Piece("bucket", told.encode())]
    return pieces


def table(stack: Stack) -> list[Piece]:
    """Every attribute of every item of every table."""
    dynamodb, pieces = stack.clients.dynamodb, []
    for name in dynamodb.list_tables()["TableNames"]:
        for page in dynamodb.get_paginator("scan").paginate(TableName=name):
            pieces += [Piece("table", raw) for item in page["Items"] for raw in _leaves(item)]
    return pieces


def queues(_: Stack) -> list[Piece]:
    """Every message that lies in a queue or dead-letter queue, in flight or not."""
    backend = sqs_backends[ACCOUNT][REGION]
    lying = [message for queue in backend.queues.values() for message in list(queue._messages)]
    return [Piece("queue", f"{one.body} {one.group_id} {one.deduplication_id}".encode()) for one in lying]


def _leaves(value: Any) -> Iterator[bytes]:
    if isinstance(value, bytes | bytearray):
        yield bytes(value)
    elif isinstance(value, dict):
        for name, one in value.items():
            yield str(name).encode()
            yield from _leaves(one)
    elif isinstance(value, list | tuple | set):
        for one in value:
            yield from _leaves(one)
    else:
        yield str(value).encode()


def _bytes(body: Any) -> bytes:
    """A request's body as it travels, nearly: a form's fields are a dict here."""
    if isinstance(body, bytes | bytearray):
        return bytes(body)
    if hasattr(body, "read"):
        position = body.tell()
        raw: bytes = body.read()
        body.seek(position)
        return raw
    return (body if isinstance(body, str) else json.dumps(body, default=str, ensure_ascii=False)).encode()


class Wire:
    """Keeps every request to AWS, deleted since or not; entered before the stack starts."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self._patches = Patches()

    def _sent(self, params: dict[str, Any], **_: Any) -> None:
        told = json.dumps([params["url"], {**params["headers"]}], default=str, ensure_ascii=False)
        self.pieces += [Piece("wire", _bytes(params.get("body"))), Piece("wire", told.encode())]

    def __enter__(self) -> Self:
        listening = [*handlers.BUILTIN_HANDLERS, ("before-call", self._sent)]
        reason = (
            "botocore gives each new session its built-in handlers: the one place that sees clients made by any code"
        )
        self._patches.replace(handlers, "BUILTIN_HANDLERS", listening, reason)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._patches.undo()


def plant(stack: Stack, text: str) -> None:
    """Leave the text in bucket (plain), table (deflated) and a dead-letter queue (base64), so that a search can be seen to find."""
    stack.clients.s3.put_object(Bucket=stack.deployment.outputs["BucketName"], Key="control", Body=text.encode())
    name = stack.deployment.outputs["TableName"]
    schema = stack.clients.dynamodb.describe_table(TableName=name)["Table"]["KeySchema"]
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = deflate.compress(text.encode()) + deflate.flush()
    key: dict[str, Any] = {one["AttributeName"]: {"S": "control"} for one in schema}
    stack.clients.dynamodb.put_item(TableName=name, Item={**key, "packed": {"B": b"\x01" + packed}})
    stack.clients.sqs.send_message(
        QueueUrl=stack.deployment.outputs["WorkDeadLettersUrl"],
        MessageBody=base64.b64encode(text.encode()).decode(),
        MessageGroupId="control",
        MessageDeduplicationId="control",
    )
