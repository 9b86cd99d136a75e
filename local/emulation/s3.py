"""moto's S3 answers one request at a time, so that conditional writes have exactly one winner."""

import threading
from typing import Any

from moto.s3.responses import S3Response

from local.emulation.patches import Patches

_LOCK = threading.RLock()


def install(patches: Patches) -> None:
    """Serialise moto's S3 by one lock."""
    for name in ("bucket_response", "key_response"):
        original = getattr(S3Response, name)

        def answer(self: Any, *arguments: Any, _original: Any = original, **named: Any) -> Any:
            with _LOCK:
                return _original(self, *arguments, **named)

        reason = "moto looks and then writes: two threads both pass If-None-Match"
        patches.replace(S3Response, name, answer, reason)
