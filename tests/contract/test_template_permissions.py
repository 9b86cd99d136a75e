"""What template.yaml allows: whom the key, and each function what."""

import pytest

from shared.storage.agent_notes import DEPLOYMENT
from tests.contract.template import FUNCTIONS, listed, properties, resource, statements, target

OPENING_KEYS = {"kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"}


def actions(function: str) -> set[str]:
    return {action for statement in statements(function) for action in listed(statement["Action"])}


def test_the_key_turns_and_stays_manageable() -> None:
    administration = next(s for s in properties("Key")["KeyPolicy"]["Statement"] if s["Sid"] == "Administration")

    assert properties("Key")["EnableKeyRotation"] is True
    assert {"kms:PutKeyPolicy", "kms:DescribeKey", "kms:CreateAlias", "kms:ScheduleKeyDeletion"} <= set(
        administration["Action"]
    )
    assert "Condition" not in administration


def test_only_the_functions_roles_open_owners_keys_and_only_with_the_context() -> None:
    roles = {f"{function}Role" for function in FUNCTIONS}
    for statement in properties("Key")["KeyPolicy"]["Statement"]:
        held = set(listed(statement["Action"]))
        if held.isdisjoint(OPENING_KEYS) or "kms:ViaService" in statement["Condition"]["StringEquals"]:
            continue
        assert held <= OPENING_KEYS
        assert {target(principal) for principal in statement["Principal"]["AWS"]} <= roles
        of_the_deployment = {"kms:EncryptionContext:owner": DEPLOYMENT}
        own = of_the_deployment if statement["Sid"] == "MakeTheDeploymentsKeys" else {}
        assert statement["Condition"] == {"StringEquals": {"kms:EncryptionContext:service": "nacre", **own}}


def test_no_statement_of_the_key_allows_everything() -> None:
    held = {action for s in properties("Key")["KeyPolicy"]["Statement"] for action in listed(s["Action"])}

    assert held.isdisjoint({"kms:*", "*"})


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_role_is_one_functions_and_holds_no_ready_made_policy(function: str) -> None:
    assert target(properties(f"{function}Function")["Role"]) == f"{function}Role"
    assert set(properties(f"{function}Role")) == {"AssumeRolePolicyDocument"}
    assert resource(f"{function}Function")["DependsOn"] == [f"{function}Permissions"]
    assert "Policies" not in properties(f"{function}Function")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_may_do_named_things_to_named_resources(function: str) -> None:
    wild = {action for action in actions(function) if "*" in action}

    assert wild <= {"kms:GenerateDataKey*", "kms:ReEncrypt*"}
    assert not any("*" in listed(statement["Resource"]) for statement in statements(function))
    assert "dynamodb:Scan" not in actions(function)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_uses_the_key_with_the_context_or_for_storage_at_rest(function: str) -> None:
    using = [s for s in statements(function) if any(action.startswith("kms:") for action in listed(s["Action"]))]

    assert len(using) == (3 if function == "Admin" else 2)
    for statement in using:
        held = statement["Condition"]["StringEquals"]
        assert target(statement["Resource"]) == "Key"
        assert set(held) & {"kms:EncryptionContext:service", "kms:ViaService"}
        assert held.get("kms:EncryptionContext:owner", DEPLOYMENT) == DEPLOYMENT


def test_admin_writes_into_the_deployments_own_place_and_nowhere_else() -> None:
    writing = {"s3:PutObject", "s3:DeleteObjectVersion"}
    places = [
        resource["Fn::Sub"]
        for statement in statements("Admin")
        if writing & set(listed(statement["Action"]))
        for resource in listed(statement["Resource"])
    ]

    assert places
    assert all(place.startswith(f"${{Bucket.Arn}}/o/{DEPLOYMENT}/") for place in places)
    assert "dynamodb:DeleteItem" not in actions("Admin")
    (changing,) = (s for s in statements("Admin") if "dynamodb:UpdateItem" in listed(s["Action"]))
    assert changing["Condition"] == {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [f"o#{DEPLOYMENT}"]}}


def test_recall_writes_nothing_but_access_counts() -> None:
    writing = {
        "s3:PutObject",
        "s3:DeleteObjectVersion",
        "dynamodb:PutItem",
        "dynamodb:DeleteItem",
        "kms:GenerateDataKey",
    }

    assert actions("Recall").isdisjoint(writing)
    assert "dynamodb:UpdateItem" in actions("Recall")


def test_only_maintenance_touches_every_object_and_looks_up_the_due() -> None:
    everything = {"Fn::Sub": "${Bucket.Arn}/o/*"}
    due = {"Fn::Sub": "${Table.Arn}/index/due"}

    for wanted in (everything, due):
        assert [f for f in FUNCTIONS if any(wanted in listed(s["Resource"]) for s in statements(f))] == ["Maintenance"]


def test_no_secret_stands_in_an_environment() -> None:
    environments = {name: properties(f"{name}Function")["Environment"]["Variables"] for name in FUNCTIONS}
    models = {name for name, environment in environments.items() if "MODEL_PROVIDER" in environment}

    assert models == {"Extraction", "Maintenance"}
    for environment in environments.values():
        assert {key: value for key, value in environment.items() if key.endswith("_API_KEY") and value} == {}
    assert models <= {function for function in FUNCTIONS if "secretsmanager:GetSecretValue" in actions(function)}
    assert "secretsmanager:GetSecretValue" not in actions("Memories")
