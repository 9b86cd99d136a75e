"""A second implementation of docs/spec/sealing.md that shares no code with the first: hashlib, hmac and AES-GCM as a stream."""

import base64
import hashlib
import hmac
import struct

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes


def joined(*parts: str | int) -> bytes:
    pieces = [struct.pack(">Q", part) if isinstance(part, int) else part.encode("utf-8") for part in parts]
    return b"".join(struct.pack(">I", len(piece)) + piece for piece in pieces)


def hkdf(secret: bytes, info: bytes) -> bytes:
    """RFC 5869 for one block: extract with a salt of zeros, then expand once."""
    extracted = hmac.new(bytes(32), secret, hashlib.sha256).digest()
    return hmac.new(extracted, info + b"\x01", hashlib.sha256).digest()


def base32(raw: bytes) -> str:
    return base64.b32encode(raw).decode().lower().replace("=", "")


def owner_name(issuer: str, subject: str) -> str:
    return base32(hashlib.sha256(joined(issuer, subject)).digest())


def tag(root: bytes, owner: str, epoch: int, purpose: str, parts: list[str]) -> str:
    key = hkdf(root, joined("nacre tag key 1", owner, epoch, purpose))
    return base32(hmac.new(key, joined(*parts), hashlib.sha256).digest()[:16])


def seal(key: bytes, nonce: bytes, bound: bytes, plain: bytes) -> bytes:
    encryptor = Cipher(algorithms.AES256(key), modes.GCM(nonce)).encryptor()
    encryptor.authenticate_additional_data(bound)
    ciphertext = encryptor.update(plain) + encryptor.finalize()
    return b"\x01" + nonce + ciphertext + encryptor.tag
