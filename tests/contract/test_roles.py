"""Every function does its work with no more than its role allows, and the judge of that is not blind."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from local.calls import FOLLOWED, Trail
from shared.storage.agent_notes import DEPLOYMENT
from tests.contract.roles import CONTEXT, VARIABLES, Ask, Roles, Watch, asks

OWNERS_KEY = ((f"{CONTEXT}epoch", "1"), (f"{CONTEXT}service", "nacre"))
FUNCTIONS = ("Memories", "Recall", "Admin", "Extraction", "Maintenance")


@pytest.fixture
def roles(monkeypatch: pytest.MonkeyPatch) -> Roles:
    for variable, name in VARIABLES.items():
        monkeypatch.setenv(variable, f"physical-{name}")
    return Roles.of_the_template()


def asked(service: str, operation: str, **params: Any) -> list[Ask]:
    return list(asks(service, operation, params))


def allowed(roles: Roles, ask: Ask) -> set[str]:
    return {function for function in FUNCTIONS if roles.allow(function, ask)}


def on_object(operation: str, key: str) -> Ask:
    (ask,) = asked("s3", operation, Bucket="physical-Bucket", Key=key)
    return ask


def test_the_keyring_is_read_by_all_and_written_where_lives_begin_and_end(roles: Roles) -> None:
    assert allowed(roles, on_object("GetObject", "o/x/keyring")) == set(FUNCTIONS)
    assert allowed(roles, on_object("PutObject", "o/x/keyring")) == {"Memories", "Maintenance"}


def test_conversations_are_closed_to_recall_and_indexes_to_the_writers(roles: Roles) -> None:
    assert allowed(roles, on_object("GetObject", "o/x/1/conversations/t")) == {"Memories", "Extraction", "Maintenance"}
    assert allowed(roles, on_object("GetObject", "o/x/1/index/i")) == {"Recall", "Maintenance"}
    assert allowed(roles, on_object("PutObject", "o/x/1/index/i")) == {"Maintenance"}


def test_nobody_reads_an_object_outside_the_owners(roles: Roles) -> None:
    assert allowed(roles, on_object("GetObject", "elsewhere/keyring")) == set()


def test_an_owners_key_is_opened_with_its_context_only(roles: Roles) -> None:
    (with_context,) = asked("kms", "Decrypt", EncryptionContext={"service": "nacre", "epoch": "1"})
    (without,) = asked("kms", "Decrypt")
    (of_another_service,) = asked("kms", "Decrypt", EncryptionContext={"service": "other"})

    assert with_context.context == OWNERS_KEY
    assert allowed(roles, with_context) == set(FUNCTIONS)
    assert allowed(roles, without) == allowed(roles, of_another_service) == set()


def test_a_deletion_that_names_no_version_is_refused_to_all(roles: Roles) -> None:
    def deletion(entry: Mapping[str, str]) -> Ask:
        (ask,) = asked("s3", "DeleteObjects", Bucket="physical-Bucket", Delete={"Objects": [entry]})
        return ask

    assert "Memories" in allowed(roles, deletion({"Key": "o/x/1/journal/c", "VersionId": "v"}))
    assert allowed(roles, deletion({"Key": "o/x/1/journal/c"})) == set()


def test_a_transaction_asks_for_each_of_its_parts(roles: Roles) -> None:
    parts = ("Put", "Update", "Delete", "ConditionCheck")
    items = [{part: {"TableName": "physical-Table"}} for part in parts]
    found = asked("dynamodb", "TransactWriteItems", TransactItems=items)

    assert [ask.action for ask in found] == [f"dynamodb:{part}Item" for part in parts]
    assert [function for function in FUNCTIONS if all(roles.allow(function, ask) for ask in found)] == [
        "Memories",
        "Extraction",
        "Maintenance",
    ]


def test_admin_writes_the_deployments_notes_and_of_an_owner_only_an_entry_that_is_new(roles: Roles) -> None:
    def on_item(kind: str, owner: str) -> bool:
        request = {"TableName": "physical-Table", "Key": {"pk": {"S": f"o#{owner}"}}}
        return all(
            roles.allow("Admin", ask)
            for ask in asked("dynamodb", "TransactWriteItems", TransactItems=[{kind: request}])
        )

    assert on_item("Update", DEPLOYMENT)
    assert not on_item("Update", "a" * 52)
    assert on_item("Put", "a" * 52)
    assert not on_item("Delete", "a" * 52)
    for operation, key in (("PutObject", "keyring"), ("PutObject", "1/journal/c")):
        assert roles.allow("Admin", on_object(operation, f"o/{DEPLOYMENT}/{key}"))
        assert not roles.allow("Admin", on_object(operation, f"o/{'a' * 52}/{key}"))
    for owner, allowed_to_admin in ((DEPLOYMENT, True), ("a" * 52, False)):
        (key_made,) = asked(
            "kms", "GenerateDataKey", EncryptionContext={"service": "nacre", "owner": owner, "epoch": "1"}
        )
        assert roles.allow("Admin", key_made) is allowed_to_admin


def test_the_due_are_listed_by_maintenance_alone(roles: Roles) -> None:
    (due,) = asked("dynamodb", "Query", TableName="physical-Table", IndexName="due")
    (whole,) = asked("dynamodb", "Scan", TableName="physical-Table")

    assert allowed(roles, due) == {"Maintenance"}
    assert allowed(roles, whole) == set()


def test_work_is_sent_by_memories_and_maintenance(roles: Roles) -> None:
    (send,) = asked("sqs", "SendMessage", QueueUrl="physical-WorkQueue")

    assert allowed(roles, send) == {"Memories", "Maintenance"}


def test_maintenance_is_asked_for_by_whoever_writes_or_searches(roles: Roles) -> None:
    (send,) = asked("sqs", "SendMessage", QueueUrl="physical-MaintenanceQueue")

    assert allowed(roles, send) == set(FUNCTIONS)


@pytest.mark.usefixtures("roles")
@pytest.mark.parametrize(("service", "operation"), [("s3", "CopyObject"), ("sns", "Publish")])
def test_a_call_that_nobody_described_is_not_waved_through(service: str, operation: str) -> None:
    with pytest.raises(KeyError):
        asked(service, operation, Bucket="physical-Bucket", Key="o/x/keyring")


def test_the_watch_keeps_what_a_role_refuses_and_only_calls_of_functions(
    roles: Roles, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Watch(roles)
    put = SimpleNamespace(name="PutObject", service_model=SimpleNamespace(service_name="s3"))
    params = {"Bucket": "physical-Bucket", "Key": "o/x/1/journal/c"}

    watch.look(params, put)
    monkeypatch.setattr(FOLLOWED, "trail", Trail("request", "nacre-RecallFunction-1A2B"))
    watch.look(params, put)

    assert watch.refused == [("Recall", Ask("s3:PutObject", "Bucket/o/x/1/journal/c"))]
