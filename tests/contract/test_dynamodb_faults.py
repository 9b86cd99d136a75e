"""What DynamoDB's adapter does when the network or the service fails it."""

import contextvars
from typing import Any

import pytest

from shared.adapters import dynamodb
from shared.adapters.faults import Unexpected
from shared.domain.errors import Busy, Refused, Unavailable
from shared.ports import Check, Condition, Delete, Item, Put, Update, Write
from tests.contract.aws import TABLE, Aws, edit_answer, lose_answer, refuse, repeat_once, set_parameters

OWNER = "a" * 52
NEW = Condition(absent=True)


def everything(aws: Aws) -> list[Item]:
    return aws.table.query(OWNER, "").items


def test_keys_left_unprocessed_are_asked_for_again_until_all_are_read(aws: Aws) -> None:
    aws.table.write(OWNER, [Put({"sk": f"m#{n}"}) for n in range(6)])

    def leave_half(answer: dict[str, Any]) -> None:
        items = answer["Responses"][TABLE]
        answer["Responses"][TABLE] = items[:1]
        left = [{"pk": item["pk"], "sk": item["sk"]} for item in items[1:]]
        answer["UnprocessedKeys"] = {TABLE: {"Keys": left, "ConsistentRead": True}}

    edit_answer(aws.dynamodb, "BatchGetItem", leave_half, times=5)
    assert sorted(aws.table.get(OWNER, [f"m#{n}" for n in range(6)])) == [f"m#{n}" for n in range(6)]
    assert len(aws.slept) == 5


def test_reading_that_never_ends_is_busy(aws: Aws) -> None:
    def leave_all(answer: dict[str, Any]) -> None:
        answer["UnprocessedKeys"] = {TABLE: {"Keys": [{"pk": {"S": "o#x"}, "sk": {"S": "m"}}]}}

    edit_answer(aws.dynamodb, "BatchGetItem", leave_all, times=99)
    with pytest.raises(Busy):
        aws.table.get(OWNER, ["m"])
    assert len(aws.slept) == dynamodb.ATTEMPTS


def test_parallel_reads_belong_to_the_request_that_asked(aws: Aws) -> None:
    request: contextvars.ContextVar[str] = contextvars.ContextVar("request", default="none")
    seen: list[str] = []
    edit_answer(aws.dynamodb, "BatchGetItem", lambda _: seen.append(request.get()), times=9)
    request.set("this one")
    aws.table.get(OWNER, [f"m#{n}" for n in range(250)])
    assert seen == ["this one"] * 3


@pytest.mark.parametrize(
    "code", ["TransactionConflictException", "ThrottlingException", "ProvisionedThroughputExceededException"]
)
def test_contention_is_waited_out_with_jitter(aws: Aws, code: str) -> None:
    refuse(aws.dynamodb, "PutItem", code, times=3)
    aws.table.write(OWNER, [Put({"sk": "m"}, NEW)])
    assert everything(aws) == [{"sk": "m"}]
    assert len(aws.slept) == 3
    assert all(0 <= seconds <= 0.02 * 2**attempt for attempt, seconds in enumerate(aws.slept))


def test_contention_that_does_not_end_is_busy_and_nothing_was_written(aws: Aws) -> None:
    refused = refuse(aws.dynamodb, "TransactWriteItems", "TransactionInProgressException", times=99)
    with pytest.raises(Busy):
        aws.table.write(OWNER, [Put({"sk": "m"}), Put({"sk": "n"})])
    assert len(refused) == dynamodb.ATTEMPTS
    assert everything(aws) == []


def cancelled(*reasons: dict[str, Any]) -> dict[str, Any]:
    return {"CancellationReasons": list(reasons)}


def test_a_transaction_cancelled_by_a_conflict_is_repeated_under_the_same_token(aws: Aws) -> None:
    requests = set_parameters(aws.dynamodb, "TransactWriteItems")
    reasons = cancelled({"Code": "None"}, {"Code": "TransactionConflict"})
    refuse(aws.dynamodb, "TransactWriteItems", "TransactionCanceledException", times=2, **reasons)
    aws.table.write(OWNER, [Put({"sk": "m"}), Put({"sk": "n"})])
    aws.table.write(OWNER, [Put({"sk": "o"}), Put({"sk": "p"})])
    assert len(everything(aws)) == 4
    tokens = [request["ClientRequestToken"] for request in requests]
    assert tokens[0] == tokens[1] == tokens[2] != tokens[3]


def test_a_failed_condition_beside_a_conflict_is_refused_at_once(aws: Aws) -> None:
    reasons = cancelled(
        {"Code": "TransactionConflict"},
        {"Code": "ConditionalCheckFailed", "Item": {"pk": {"S": "o#"}, "sk": {"S": "n"}, "version": {"N": "2"}}},
    )
    refuse(aws.dynamodb, "TransactWriteItems", "TransactionCanceledException", **reasons)
    with pytest.raises(Refused) as caught:
        aws.table.write(OWNER, [Put({"sk": "m"}), Put({"sk": "n"}, NEW)])
    assert caught.value.items == {1: {"sk": "n", "version": 2}}
    assert aws.slept == []


def test_a_transaction_whose_answer_was_lost_is_not_done_twice(aws: Aws) -> None:
    lose_answer(aws.dynamodb, "TransactWriteItems")
    aws.table.write(OWNER, [Put({"sk": "m"}, NEW), Update("head", add={"memories": 1})])
    assert everything(aws) == [{"sk": "head", "memories": 1}, {"sk": "m"}]


LOST_WRITES: list[Write] = [
    Put({"sk": "new", "holder": "me"}, NEW),
    Update("m", set={"version": 2, "index": "mine"}, remove=["old"], condition=Condition(equals={"version": 1})),
    Delete("m", Condition(equals={"version": 1})),
]


@pytest.mark.parametrize("write", LOST_WRITES, ids=["put", "update", "delete"])
@pytest.mark.parametrize("repeats", ["sdk", "adapter"])
def test_a_conditional_write_that_meets_its_own_first_attempt_has_succeeded(
    aws: Aws, write: Write, repeats: str
) -> None:
    aws.table.write(OWNER, [Put({"sk": "m", "version": 1, "old": 1})])
    call = f"{type(write).__name__}Item"
    if repeats == "sdk":
        repeat_once(aws.dynamodb, call)
    else:
        lose_answer(aws.dynamodb, call)
    aws.table.write(OWNER, [write])
    after = {
        "PutItem": [{"sk": "m", "version": 1, "old": 1}, {"sk": "new", "holder": "me"}],
        "UpdateItem": [{"sk": "m", "version": 2, "index": "mine"}],
        "DeleteItem": [],
    }
    assert everything(aws) == after[call]


def test_an_update_that_met_its_own_first_attempt_returns_the_item(aws: Aws) -> None:
    aws.table.write(OWNER, [Put({"sk": "m", "version": 1})])
    lose_answer(aws.dynamodb, "UpdateItem")
    change = Update("m", set={"version": 2}, condition=Condition(equals={"version": 1}))
    assert aws.table.update(OWNER, change) == {"sk": "m", "version": 2}


def test_a_repeated_write_that_meets_another_writer_is_refused(aws: Aws) -> None:
    aws.table.write(OWNER, [Put({"sk": "m", "holder": "other"})])
    repeat_once(aws.dynamodb, "PutItem")
    with pytest.raises(Refused) as caught:
        aws.table.write(OWNER, [Put({"sk": "m", "holder": "me"}, NEW)])
    assert caught.value.items == {0: {"sk": "m", "holder": "other"}}


def test_a_repeated_conditional_count_is_refused_rather_than_counted_on_faith(aws: Aws) -> None:
    aws.table.write(OWNER, [Put({"sk": "m", "version": 1})])
    lose_answer(aws.dynamodb, "UpdateItem")
    with pytest.raises(Refused):
        aws.table.update(OWNER, Update("m", add={"version": 1}, condition=Condition(equals={"version": 1})))
    assert everything(aws) == [{"sk": "m", "version": 2}]


def test_the_same_item_written_by_another_is_refused_when_nothing_was_repeated(aws: Aws) -> None:
    aws.table.write(OWNER, [Put({"sk": "m"})])
    with pytest.raises(Refused):
        aws.table.write(OWNER, [Put({"sk": "m"}, NEW)])


def test_a_service_that_never_answers_is_unavailable(aws: Aws) -> None:
    lose_answer(aws.dynamodb, "Query", times=9)
    with pytest.raises(Unavailable):
        aws.table.query(OWNER, "")
    assert len(aws.slept) == dynamodb.LOST_ATTEMPTS - 1


def test_a_service_that_is_down_is_unavailable(aws: Aws) -> None:
    refuse(aws.dynamodb, "PutItem", "InternalServerError", status=500)
    with pytest.raises(Unavailable):
        aws.table.write(OWNER, [Put({"sk": "m"})])


@pytest.mark.parametrize("code", ["ValidationException", "ResourceNotFoundException", "AccessDeniedException"])
def test_other_errors_name_the_call_and_the_code_and_nothing_of_what_was_sent(aws: Aws, code: str) -> None:
    refuse(aws.dynamodb, "PutItem", code)
    with pytest.raises(Unexpected) as caught:
        aws.table.write(OWNER, [Put({"sk": "CANARY", "text": "CANARY"})])
    assert str(caught.value) == f"PutItem: {code}"
    assert caught.value.__suppress_context__


def test_a_request_that_the_sdk_refuses_shows_nothing_of_it(aws: Aws) -> None:
    with pytest.raises(Unexpected) as caught:
        aws.table.write(OWNER, [Put({"sk": "m", "text": ["CANARY"]})])  # type: ignore[dict-item]
    assert str(caught.value) == "PutItem: ParamValidationError"


def test_a_check_alone_is_a_transaction_of_its_own(aws: Aws) -> None:
    with pytest.raises(Refused):
        aws.table.write(OWNER, [Check("m", Condition(exists=True))])


def test_a_list_between_two_bounds_is_one_call(aws: Aws) -> None:
    for n in range(5):
        aws.table.write(OWNER, [Put({"sk": f"m#{n}", "owner_status": f"{OWNER}#active", "updated": f"{n}"})])
    requests = set_parameters(aws.dynamodb, "Query")
    assert aws.table.by_update(OWNER, "active", before="4", after="1", limit=2) == ["3", "2"]
    assert len(requests) == 1


@pytest.mark.parametrize("index", ["by_update", "due"])
def test_an_index_is_read_over_as_many_pages_as_it_takes(aws: Aws, index: str) -> None:
    for n in range(5):
        item: Item = {"sk": f"m#{n}", "owner_status": f"{OWNER}#active", "updated": f"{n}"}
        aws.table.write(OWNER, [Put({**item, "due_shard": "due#0", "due_at": f"{n}"})])
    requests = set_parameters(aws.dynamodb, "Query", Limit=1)
    if index == "by_update":
        assert aws.table.by_update(OWNER, "active", limit=9) == ["4", "3", "2", "1", "0"]
    else:
        assert [due.at for due in aws.table.due(0, before="9", limit=9)] == ["0", "1", "2", "3", "4"]
    assert len(requests) >= 5
