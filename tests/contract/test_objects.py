"""What every object store must do: the fake and S3's adapter under one suite; then S3's own faults."""

import pytest

from shared.adapters import s3
from shared.adapters.faults import Unexpected
from shared.domain.errors import AlreadyThere, Busy, Changed, Unavailable
from shared.ports import ObjectName, Objects, StoredObject
from tests.contract.aws import BUCKET, Aws, edit_answer, lose_answer, refuse, repeat_once, set_parameters
from tests.fakes import MemoryObjects

BODY = "a\u2028b\u2029c\x85d\n中文\x00".encode()


def body(objects: Objects, key: str) -> bytes | None:
    found = objects.get(key)
    return found.body if found else None


def versions(objects: Objects, key: str) -> int:
    """Count versions and delete markers under exactly this key."""
    if isinstance(objects, MemoryObjects):
        return len(objects.versions(key))
    listed = objects._client.list_object_versions(Bucket=BUCKET, Prefix=key)  # type: ignore[attr-defined]
    entries = [*listed.get("Versions", []), *listed.get("DeleteMarkers", [])]
    return sum(entry["Key"] == key for entry in entries)


def delete_marker(objects: Objects, key: str) -> None:
    """Delete as an operator would."""
    if isinstance(objects, MemoryObjects):
        objects.delete_marker(key)
    else:
        objects._client.delete_object(Bucket=BUCKET, Key=key)  # type: ignore[attr-defined]


def test_an_object_comes_back_byte_for_byte_with_its_etag(objects: Objects) -> None:
    etag = objects.put("o/a", BODY)
    assert objects.get("o/a") == StoredObject(BODY, etag)
    assert etag.startswith('"')
    objects.put("o/empty", b"")
    assert body(objects, "o/empty") == b""


def test_there_is_nothing_under_an_unknown_key(objects: Objects) -> None:
    assert objects.get("o/none") is None


def test_a_put_without_a_condition_replaces(objects: Objects) -> None:
    first = objects.put("o/a", b"1")
    assert objects.put("o/a", b"2") != first
    assert body(objects, "o/a") == b"2"
    assert versions(objects, "o/a") == 2


def test_if_absent_stores_once(objects: Objects) -> None:
    objects.put("o/a", b"1", if_absent=True)
    with pytest.raises(AlreadyThere):
        objects.put("o/a", b"2", if_absent=True)
    with pytest.raises(AlreadyThere):
        objects.put("o/a", b"1", if_absent=True)
    assert body(objects, "o/a") == b"1"


def test_if_absent_stores_again_after_erasure_and_after_deletion(objects: Objects) -> None:
    objects.put("o/a", b"1", if_absent=True)
    objects.erase("o/a")
    objects.put("o/a", b"2", if_absent=True)
    delete_marker(objects, "o/a")
    objects.put("o/a", b"3", if_absent=True)
    assert body(objects, "o/a") == b"3"


def test_if_match_replaces_only_what_was_read(objects: Objects) -> None:
    first = objects.put("o/a", b"1")
    second = objects.put("o/a", b"2", if_match=first)
    with pytest.raises(Changed):
        objects.put("o/a", b"3", if_match=first)
    objects.put("o/a", b"4", if_match=second)
    assert body(objects, "o/a") == b"4"


def test_if_match_does_not_make_an_object_that_is_gone(objects: Objects) -> None:
    etag = objects.put("o/a", b"1")
    objects.erase("o/a")
    with pytest.raises(Changed):
        objects.put("o/a", b"2", if_match=etag)
    assert objects.get("o/a") is None


def test_names_come_in_key_order_with_sizes_and_after_a_key(objects: Objects) -> None:
    for key in ("o/b/2", "o/b/1", "o/b/10", "o/c/1", "o/b", "o/b/é"):
        objects.put(key, key.encode())
    assert [name.key for name in objects.names("o/b/")] == ["o/b/1", "o/b/10", "o/b/2", "o/b/é"]
    assert list(objects.names("o/b/", after="o/b/10")) == [ObjectName("o/b/2", 5), ObjectName("o/b/é", 6)]
    assert next(iter(objects.names("o/b/", after="o/b/15"))).key == "o/b/2"
    assert list(objects.names("x")) == []


def test_names_leave_out_what_was_deleted(objects: Objects) -> None:
    objects.put("o/a", b"1")
    objects.put("o/b", b"1")
    delete_marker(objects, "o/a")
    assert [name.key for name in objects.names("o/")] == ["o/b"]


def test_names_of_the_fake_go_on_over_pages_of_a_thousand() -> None:
    objects = MemoryObjects()
    for number in range(1_005):
        objects.put(f"o/{number:04d}", b"")
    assert [name.key for name in objects.names("o/")] == [f"o/{number:04d}" for number in range(1_005)]


def test_erase_removes_every_version_and_delete_marker_of_exactly_that_key(objects: Objects) -> None:
    for key in ("o/a", "o/a", "o/ab", "o/a/b", "o/a", "o"):
        objects.put(key, key.encode())
    delete_marker(objects, "o/a")
    objects.put("o/a", b"again")
    objects.erase("o/a")
    assert versions(objects, "o/a") == 0
    assert objects.get("o/a") is None
    assert [name.key for name in objects.names("")] == ["o", "o/a/b", "o/ab"]


def test_erase_can_keep_what_is_current(objects: Objects) -> None:
    for text in (b"1", b"2", b"3"):
        objects.put("o/a", text)
    objects.erase("o/a", keep_current=True)
    assert body(objects, "o/a") == b"3"
    assert versions(objects, "o/a") == 1


def test_erase_keeps_nothing_of_an_object_that_was_deleted(objects: Objects) -> None:
    objects.put("o/a", b"1")
    delete_marker(objects, "o/a")
    objects.erase("o/a", keep_current=True)
    assert versions(objects, "o/a") == 0


def test_wiping_a_prefix_removes_every_version_and_delete_marker_under_it(objects: Objects) -> None:
    for key in ("o/a/1", "o/a/1", "o/a/2", "o/ab", "o/b"):
        objects.put(key, key.encode())
    delete_marker(objects, "o/a/2")
    removed = [objects.wipe("o/a/"), objects.wipe("o/a/")]
    assert removed == [4, 0]
    assert [versions(objects, key) for key in ("o/a/1", "o/a/2", "o/ab", "o/b")] == [0, 0, 1, 1]


def test_erasing_what_is_not_there_is_fine(objects: Objects) -> None:
    objects.put("o/ab", b"1")
    objects.erase("o/a")
    objects.erase("o/a", keep_current=True)
    assert body(objects, "o/ab") == b"1"


@pytest.mark.parametrize("repeats", ["sdk", "adapter"])
@pytest.mark.parametrize("condition", ["absent", "match"])
def test_a_put_that_meets_its_own_first_attempt_has_succeeded(aws: Aws, repeats: str, condition: str) -> None:
    before = aws.objects.put("o/a", b"0") if condition == "match" else None
    if repeats == "sdk":
        repeat_once(aws.s3, "PutObject")
    else:
        lose_answer(aws.s3, "PutObject")
    etag = aws.objects.put("o/a", b"1", if_absent=before is None, if_match=before)
    assert aws.objects.get("o/a") == StoredObject(b"1", etag)


def test_a_repeated_put_that_meets_anothers_same_bytes_was_not_first(aws: Aws) -> None:
    etag = aws.objects.put("o/a", b"1")
    repeat_once(aws.s3, "PutObject")
    with pytest.raises(AlreadyThere):
        aws.objects.put("o/a", b"1", if_absent=True)
    lose_answer(aws.s3, "PutObject")
    aws.objects.put("o/a", b"2")
    with pytest.raises(Changed):
        aws.objects.put("o/a", b"3", if_match=etag)


@pytest.mark.parametrize("code", ["ConditionalRequestConflict", "OperationAborted"])
def test_a_conflict_of_two_conditional_puts_is_tried_again(aws: Aws, code: str) -> None:
    refuse(aws.s3, "PutObject", code, times=3, status=409)
    aws.objects.put("o/a", b"1", if_absent=True)
    assert body(aws.objects, "o/a") == b"1"
    assert len(aws.slept) == 3


def test_a_conflict_that_does_not_end_is_busy(aws: Aws) -> None:
    refused = refuse(aws.s3, "PutObject", "ConditionalRequestConflict", times=99, status=409)
    with pytest.raises(Busy):
        aws.objects.put("o/a", b"1", if_absent=True)
    assert len(refused) == s3.ATTEMPTS


def test_a_store_that_never_answers_or_slows_down_is_unavailable(aws: Aws) -> None:
    lose_answer(aws.s3, "PutObject", times=9)
    with pytest.raises(Unavailable):
        aws.objects.put("o/a", b"1")
    refuse(aws.s3, "GetObject", "SlowDown", status=503)
    with pytest.raises(Unavailable):
        aws.objects.get("o/a")


def test_an_erasure_that_left_something_is_not_reported_as_done(aws: Aws) -> None:
    aws.objects.put("o/a", b"1")
    edit_answer(aws.s3, "DeleteObjects", lambda answer: answer.update(Errors=[{"Key": "o/a", "Code": "InternalError"}]))
    with pytest.raises(Unavailable):
        aws.objects.erase("o/a")


def test_other_errors_name_the_call_and_the_code_only(aws: Aws) -> None:
    refuse(aws.s3, "PutObject", "AccessDenied", status=403)
    with pytest.raises(Unexpected, match=r"^PutObject: AccessDenied$") as caught:
        aws.objects.put("o/CANARY", b"CANARY")
    assert caught.value.__suppress_context__


def test_erase_goes_on_over_pages_of_versions(aws: Aws) -> None:
    for number in range(7):
        aws.objects.put("o/a", bytes([number]))
    aws.objects.put("o/ab", b"1")
    requests = set_parameters(aws.s3, "ListObjectVersions", MaxKeys=2)
    aws.objects.erase("o/a")
    assert len(requests) >= 4
    assert versions(aws.objects, "o/a") == 0
    assert body(aws.objects, "o/ab") == b"1"


def test_erase_asks_for_nothing_of_longer_keys(aws: Aws) -> None:
    for key in ("o/a", "o/ab", "o/a/b"):
        aws.objects.put(key, b"1")
    requests = set_parameters(aws.s3, "DeleteObjects")
    aws.objects.erase("o/a")
    assert [[entry["Key"] for entry in request["Delete"]["Objects"]] for request in requests] == [["o/a"]]


def test_a_put_refused_at_once_takes_one_call(aws: Aws) -> None:
    aws.objects.put("o/a", b"1")
    heads = set_parameters(aws.s3, "HeadObject")
    with pytest.raises(AlreadyThere):
        aws.objects.put("o/a", b"2", if_absent=True)
    assert heads == []


def test_names_of_the_real_store_go_on_over_its_pages(aws: Aws) -> None:
    for number in range(7):
        aws.objects.put(f"o/{number}", b"")
    requests = set_parameters(aws.s3, "ListObjectsV2", MaxKeys=2)
    assert [name.key for name in aws.objects.names("o/", after="o/0")] == [f"o/{number}" for number in range(1, 7)]
    assert len(requests) == 3
