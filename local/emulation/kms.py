"""moto's KMS with keys that refuse while disabled or awaiting deletion, and contexts compared as mappings."""

from typing import Any

from moto.core.exceptions import JsonRESTError
from moto.kms import models, utils

from local.emulation.patches import Patches


class _KeyRefused(JsonRESTError):  # type: ignore[misc]
    code = 400


def _canonical_context(encryption_context: dict[str, str]) -> bytes:
    parts = []
    for pair in sorted(encryption_context.items()):
        for text in pair:
            encoded = text.encode()
            parts.append(len(encoded).to_bytes(4, "big") + encoded)
    return b"".join(parts)


def _refuse_unusable(backend: Any, key_id: str) -> None:
    key = backend.keys.get(backend.any_id_to_key_id(key_id))
    if key is None:
        return
    if key.key_state == "PendingDeletion":
        raise _KeyRefused("KMSInvalidStateException", f"{key.arn} is pending deletion.")
    if not key.enabled:
        raise _KeyRefused("DisabledException", f"{key.arn} is disabled.")


def install(patches: Patches) -> None:
    """Make moto's KMS refuse what KMS refuses."""
    reason = "moto joins names and values, so that {'ab': 'c'} opens what was closed with {'a': 'bc'}"
    patches.replace(utils, "_serialize_encryption_context", _canonical_context, reason)
    reason = "moto uses disabled keys and keys that await deletion"
    for name in ("encrypt", "generate_data_key"):
        original = getattr(models.KmsBackend, name)

        def use(self: Any, key_id: str, *arguments: Any, _original: Any = original, **named: Any) -> Any:
            _refuse_unusable(self, key_id)
            return _original(self, key_id, *arguments, **named)

        patches.replace(models.KmsBackend, name, use, reason)
    decrypt = models.KmsBackend.decrypt

    def open_sealed(self: Any, *arguments: Any, **named: Any) -> Any:
        plain, arn = decrypt(self, *arguments, **named)
        _refuse_unusable(self, arn)
        return plain, arn

    patches.replace(models.KmsBackend, "decrypt", open_sealed, reason)
