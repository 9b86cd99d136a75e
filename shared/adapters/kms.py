"""Wrapping of owners' keys by AWS KMS: the port `KeyService` over one boto3 client."""

from typing import TYPE_CHECKING, Final

from shared.adapters.faults import FAULTS, code, translated
from shared.domain.errors import KeysBroken
from shared.ports import FreshKey

if TYPE_CHECKING:
    from mypy_boto3_kms import KMSClient

PLAIN_BYTES: Final = 64
_BROKEN: Final = frozenset(
    {
        "AccessDeniedException",
        "DisabledException",
        "IncorrectKeyException",
        "InvalidCiphertextException",
        "InvalidKeyUsageException",
        "KMSInvalidStateException",
        "NotFoundException",
        "ValidationException",
    }
)
"""What a wrapped key that is not ours, not whole or not to be used is answered with."""


class KmsKeys:
    """`key_id` names the stack's one key; every call binds the context {service, owner, epoch}."""

    def __init__(self, client: "KMSClient", key_id: str) -> None:
        self._client = client
        self._key_id = key_id

    def create(self, owner: str, epoch: int) -> FreshKey:
        try:
            answer = self._client.generate_data_key(
                KeyId=self._key_id, NumberOfBytes=PLAIN_BYTES, EncryptionContext=_context(owner, epoch)
            )
        except FAULTS as fault:
            raise translated("GenerateDataKey", fault) from None
        return FreshKey(answer["Plaintext"], answer["CiphertextBlob"])

    def unwrap(self, owner: str, epoch: int, wrapped: bytes) -> bytes:
        if not wrapped:
            raise KeysBroken
        try:
            answer = self._client.decrypt(
                KeyId=self._key_id, CiphertextBlob=wrapped, EncryptionContext=_context(owner, epoch)
            )
        except FAULTS as fault:
            if code(fault) in _BROKEN:
                raise KeysBroken from None
            raise translated("Decrypt", fault) from None
        return answer["Plaintext"]

    def wrap(self, owner: str, epoch: int, plain: bytes) -> bytes:
        try:
            answer = self._client.encrypt(KeyId=self._key_id, Plaintext=plain, EncryptionContext=_context(owner, epoch))
        except FAULTS as fault:
            raise translated("Encrypt", fault) from None
        return answer["CiphertextBlob"]


def _context(owner: str, epoch: int) -> dict[str, str]:
    return {"service": "nacre", "owner": owner, "epoch": str(epoch)}
