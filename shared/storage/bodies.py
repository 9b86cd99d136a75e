"""Bodies as bytes, before they are sealed: canonical JSON, deflated with a static dictionary. Knows no key."""

import json
import zlib
from collections.abc import Mapping
from typing import Any, Final

from shared.domain.errors import SealBroken
from shared.storage.dictionary import CURRENT, DICTIONARIES

BODY_BYTES: Final = 1_000_000
"""What a body may inflate to; the largest item of the table is 400 KB."""
_RAW: Final = -zlib.MAX_WBITS


def pack(body: Mapping[str, Any]) -> bytes:
    """Return the number of the dictionary (1 byte) and the raw deflate stream of the body's canonical JSON.

    Equal bodies give equal bytes. Raises ValueError for NaN, infinities, lone surrogates and what JSON does not know.
    """
    deflate = zlib.compressobj(9, zlib.DEFLATED, _RAW, 9, zlib.Z_DEFAULT_STRATEGY, DICTIONARIES[CURRENT])
    return bytes((CURRENT,)) + deflate.compress(_canonical(body)) + deflate.flush()


def unpack(packed: bytes, *, limit: int = BODY_BYTES) -> dict[str, Any]:
    """Return the body. Raises SealBroken for an unknown dictionary, a cut or padded stream, more than `limit` bytes,
    or anything but one JSON object: sealed bytes are ours, so a malformed body is a broken one."""
    try:
        dictionary = DICTIONARIES[packed[0]]
        inflate = zlib.decompressobj(_RAW, dictionary)
        plain = inflate.decompress(packed[1:], limit + 1)
        body = json.loads(plain.decode(), parse_constant=_refused) if len(plain) <= limit else None
    except (IndexError, KeyError, ValueError, RecursionError, zlib.error):
        raise SealBroken from None
    if not isinstance(body, dict) or not inflate.eof or inflate.unused_data:
        raise SealBroken
    return body


def _canonical(body: Mapping[str, Any]) -> bytes:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        # The codec's error carries the text itself.
        raise ValueError("a body with a lone surrogate has no bytes") from None


def _refused(_: str) -> None:
    raise SealBroken
