"""Sealed objects in S3: the port `Objects` over one boto3 client. The bucket is versioned and encrypts by default."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from shared.adapters.faults import FAULTS, LOST, Sleep, code, pause, retried, translated
from shared.domain.errors import AlreadyThere, Busy, Changed, Unavailable
from shared.domain.ids import Random
from shared.ports import ObjectName, StoredObject

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

ATTEMPTS: Final = 8
LOST_ATTEMPTS: Final = 2
"""Times that a put without an answer is made here; the SDK repeats each of them on its own."""
WRITE_ID: Final = "write"
ERASE_BATCH: Final = 1_000
_ABSENT: Final = frozenset({"NoSuchKey", "404", "NotFound"})
_CONFLICT: Final = frozenset({"ConditionalRequestConflict", "OperationAborted", "409"})
_FAILED: Final = frozenset({"PreconditionFailed", "412"})


class S3Objects:
    """`sleep` waits between attempts; `random` gives jitter and the ids that tell one's own write again."""

    def __init__(self, client: "S3Client", bucket: str, sleep: Sleep, random: Random) -> None:
        self._client = client
        self._bucket = bucket
        self._sleep = sleep
        self._random = random

    def put(self, key: str, body: bytes, *, if_absent: bool = False, if_match: str | None = None) -> str:
        write_id = self._random(16).hex()
        request: dict[str, Any] = {"Key": key, "Body": body, "Metadata": {WRITE_ID: write_id}}
        if if_absent:
            request["IfNoneMatch"] = "*"
        if if_match is not None:
            request["IfMatch"] = if_match
        lost = 0
        for attempt in range(ATTEMPTS):
            try:
                return str(self._client.put_object(Bucket=self._bucket, **request)["ETag"])
            except LOST:
                lost += 1
                if lost == LOST_ATTEMPTS:
                    raise Unavailable from None
            except FAULTS as fault:
                if code(fault) in _FAILED or (if_match is not None and code(fault) in _ABSENT):
                    # A repeated put meets its own first attempt when only the answer was lost.
                    own = self._own_write(key, write_id) if lost or retried(fault) else None
                    return _only(own, AlreadyThere if if_absent else Changed)
                if code(fault) not in _CONFLICT:
                    raise translated("PutObject", fault) from None
            self._sleep(pause(attempt, self._random))
        raise Busy

    def _own_write(self, key: str, write_id: str) -> str | None:
        head = self._answer("HeadObject", self._client.head_object, {"Key": key})
        if head is None or head["Metadata"].get(WRITE_ID) != write_id:
            return None
        return str(head["ETag"])

    def get(self, key: str) -> StoredObject | None:
        def whole(**request: Any) -> StoredObject:
            answer = self._client.get_object(**request)
            return StoredObject(answer["Body"].read(), answer["ETag"])

        found: StoredObject | None = self._answer("GetObject", whole, {"Key": key})
        return found

    def names(self, prefix: str, *, after: str = "") -> Iterator[ObjectName]:
        request: dict[str, Any] = {"Prefix": prefix}
        if after:
            request["StartAfter"] = after
        while True:
            page = self._answer("ListObjectsV2", self._client.list_objects_v2, request)
            yield from (ObjectName(entry["Key"], entry["Size"]) for entry in page.get("Contents", []))
            if not page.get("IsTruncated"):
                return
            request["ContinuationToken"] = page["NextContinuationToken"]

    def erase(self, key: str, *, keep_current: bool = False) -> None:
        self._delete(list(self._versions(key, keep_current=keep_current)))

    def _delete(self, versions: list[dict[str, str]]) -> None:
        for start in range(0, len(versions), ERASE_BATCH):
            batch = {"Objects": versions[start : start + ERASE_BATCH], "Quiet": True}
            if self._answer("DeleteObjects", self._client.delete_objects, {"Delete": batch}).get("Errors"):
                raise Unavailable

    def wipe(self, prefix: str) -> int:
        page = self._answer("ListObjectVersions", self._client.list_object_versions, {"Prefix": prefix})
        entries = [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
        found = [{"Key": entry["Key"], "VersionId": entry["VersionId"]} for entry in entries]
        self._delete(found)
        return len(found)

    def _versions(self, key: str, *, keep_current: bool) -> Iterator[dict[str, str]]:
        """Yield every version and delete marker of exactly this key, which the listing gives before longer keys."""
        request: dict[str, Any] = {"Prefix": key}
        while True:
            page = self._answer("ListObjectVersions", self._client.list_object_versions, request)
            kept = [e for e in page.get("Versions", []) if not (keep_current and e["IsLatest"])]
            for entry in [*kept, *page.get("DeleteMarkers", [])]:
                if entry["Key"] == key:
                    yield {"Key": key, "VersionId": entry["VersionId"]}
            if not page.get("IsTruncated") or page.get("NextKeyMarker") != key:
                return
            request |= {"KeyMarker": key, "VersionIdMarker": page["NextVersionIdMarker"]}

    def _answer(self, call: str, send: Callable[..., Any], request: dict[str, Any]) -> Any:
        """Return the answer; None when there is no such object."""
        try:
            return send(Bucket=self._bucket, **request)
        except FAULTS as fault:
            if code(fault) in _ABSENT:
                return None
            raise translated(call, fault) from None


def _only(etag: str | None, error: type[Exception]) -> str:
    if etag is None:
        raise error from None
    return etag
