"""The adapters' calls against the roles' permissions: nothing is called that no role may, nothing is granted that nobody calls."""

import ast
from pathlib import Path
from typing import Any

from samtranslator.yaml_helper import yaml_parse

ROOT = Path(__file__).parents[2]
NEEDS = {
    "batch_get_item": {"dynamodb:BatchGetItem"},
    "query": {"dynamodb:Query"},
    "put_item": {"dynamodb:PutItem"},
    "update_item": {"dynamodb:UpdateItem"},
    "delete_item": {"dynamodb:DeleteItem"},
    "transact_write_items": {
        "dynamodb:ConditionCheckItem", "dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:UpdateItem",
    },
    "get_object": {"s3:GetObject"},
    "head_object": {"s3:GetObject"},
    "put_object": {"s3:PutObject"},
    "list_objects_v2": {"s3:ListBucket"},
    "list_object_versions": {"s3:ListBucketVersions"},
    "delete_objects": {"s3:DeleteObjectVersion"},
    "generate_data_key": {"kms:GenerateDataKey"},
    "decrypt": {"kms:Decrypt"},
    "encrypt": {"kms:Encrypt"},
    "send_message": {"sqs:SendMessage"},
    "change_message_visibility": {"sqs:ChangeMessageVisibility"},
}  # fmt: skip
"""What AWS asks for each call. Deletions always name versions (test below)."""
OTHERS_CALL = {"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"}
"""Lambda's poller calls these with the function's role."""
SERVICES = ("dynamodb:", "s3:", "kms:", "sqs:")


def called() -> set[str]:
    """Names of the boto3 methods that the adapters to these services touch."""
    return {
        node.attr
        for adapter in ("dynamodb", "s3", "kms", "sqs")
        for node in ast.walk(ast.parse((ROOT / f"shared/adapters/{adapter}.py").read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "_client"
        and node.attr != "meta"
    }


def granted() -> set[str]:
    """Actions that any function's role has of itself, encryption at rest by the storage services left out."""
    resources: dict[str, Any] = yaml_parse((ROOT / "template.yaml").read_text(encoding="utf-8"))["Resources"]
    statements = [
        statement
        for resource in resources.values()
        if resource["Type"] == "AWS::IAM::Policy"
        for statement in resource["Properties"]["PolicyDocument"]["Statement"]
        if statement["Sid"] != "AtRest"
    ]
    actions = [statement["Action"] for statement in statements]
    flat = {action for one in actions for action in (one if isinstance(one, list) else [one])}
    return {action for action in flat if action.startswith(SERVICES)}


def test_every_call_of_an_adapter_is_known_here() -> None:
    assert called() <= set(NEEDS)


def test_roles_hold_exactly_what_the_adapters_call() -> None:
    needed = {action for call in called() for action in NEEDS[call]}

    assert granted() == needed | OTHERS_CALL


def test_deletions_name_the_version_they_remove() -> None:
    source = (ROOT / "shared/adapters/s3.py").read_text(encoding="utf-8")

    assert "delete_object(" not in source
    assert '"VersionId": entry["VersionId"]' in source
