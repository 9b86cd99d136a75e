"""Text of the bytes of a file. UTF-8, UTF-16 with its mark, and GB 18030 where it cannot be anything else; the rest is an error. Pure.

Any bytes of two halves decode as GB 18030 into something, so text in another old encoding would come in as nonsense and stay unseen. It is
believed only where nine in ten of its Chinese characters are among the 3,755 common ones (level 1 of GB 2312: rows 16 to 55), which hold
99 in 100 characters of real text, and a twentieth of what chance gives.
"""

import codecs
from typing import Final

from shared.domain import limits
from shared.domain.errors import Invalid, TooLarge
from shared.text.normalise import is_well_formed

_BYTE_ORDER_MARK: Final = "\ufeff"
_COMMON: Final = range(0xB0, 0xD8)
_ENOUGH: Final = 0.9


def text_of(data: str | bytes) -> str:
    """Return the text without a byte order mark. Raises TooLarge, and Invalid that names the first byte that is wrong."""
    if len(data) > limits.IMPORT_BYTES:
        raise TooLarge(details={"limit_bytes": limits.IMPORT_BYTES})
    text = data if isinstance(data, str) else _decoded(data)
    if not is_well_formed(text):
        raise Invalid.of("data", "It holds half of a character (a lone surrogate).")
    return text.removeprefix(_BYTE_ORDER_MARK)


def _decoded(data: bytes) -> str:
    utf_16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if utf_16 else "utf-8")
    except UnicodeDecodeError as wrong:
        text = None if utf_16 else _chinese(data)
        if text is None:
            form = "UTF-16" if utf_16 else "UTF-8"
            raise Invalid.of("data", f"Byte {wrong.start} is no {form}. Save the file as UTF-8.") from None
        return text


def _chinese(data: bytes) -> str | None:
    try:
        text = data.decode("gb18030")
    except UnicodeDecodeError:
        return None
    firsts = [sign.encode("gb18030")[0] for sign in text if "\u4e00" <= sign <= "\u9fff"]
    common = sum(first in _COMMON for first in firsts)
    return text if firsts and common >= _ENOUGH * len(firsts) and not _private(text) else None


def _private(text: str) -> bool:
    return any("\ue000" <= sign <= "\uf8ff" or "\x80" <= sign <= "\x9f" for sign in text)
