"""What template.yaml promises, read from the file itself: nothing here talks to AWS."""

import re
from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from samtranslator.yaml_helper import yaml_parse

from local.template import translate
from shared.domain import limits
from shared.storage.agent_notes import DEPLOYMENT

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "template.yaml"
FUNCTIONS = ("Memories", "Recall", "Admin", "Extraction", "Maintenance")
STAYING = ("Table", "Bucket", "BucketPolicy", "Key", "UserPool", "UserPoolClient")
OPENING_KEYS = {"kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"}


@cache
def template() -> Any:
    return yaml_parse(TEMPLATE.read_text(encoding="utf-8"))


@cache
def paths() -> Any:
    return translate(TEMPLATE, "eu-central-1")["Resources"]["Api"]["Properties"]["Body"]["paths"]


def resource(name: str) -> Any:
    return template()["Resources"][name]


def properties(name: str) -> Any:
    return resource(name)["Properties"]


def of_type(kind: str) -> dict[str, Any]:
    return {name: held["Properties"] for name, held in template()["Resources"].items() if held["Type"] == kind}


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def target(value: Any) -> str:
    """The logical name behind Ref or Fn::GetAtt."""
    if "Ref" in value:
        return str(value["Ref"])
    attribute = value["Fn::GetAtt"]
    return str(attribute[0] if isinstance(attribute, list) else attribute.split(".")[0])


def statements(function: str) -> list[Any]:
    """What a function's role may do, conditional permissions included."""
    return [
        statement
        for held in of_type("AWS::IAM::Policy").values()
        if {"Ref": f"{function}Role"} in held["Roles"]
        for statement in held["PolicyDocument"]["Statement"]
    ]


def actions(function: str) -> set[str]:
    return {action for statement in statements(function) for action in listed(statement["Action"])}


def queue_sources() -> Iterator[tuple[str, Any]]:
    for function in FUNCTIONS:
        for event in properties(f"{function}Function")["Events"].values():
            if event["Type"] == "SQS":
                yield function, event["Properties"]


def routes() -> Iterator[tuple[str, str, str, Any]]:
    """Path, method, function and what the route asks of a caller, as the gateway will hold them."""
    for path, methods in paths().items():
        for method, route in methods.items():
            uri = route["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"]
            named = re.search(r"\$\{(\w+)Function\.Arn\}", uri)
            assert named
            yield path, method, named[1], route.get("security")


def test_every_route_but_the_preflight_wants_a_token() -> None:
    open_to_all = {(path, method) for path, method, _, security in routes() if security != [{"Tokens": []}]}

    assert open_to_all == {("/{proxy+}", "options")}


def test_a_preflight_meets_no_route_that_wants_a_token() -> None:
    any_method = {path for path, method, _, _ in routes() if method == "x-amazon-apigateway-any-method"}

    assert any_method == {"$default"}, "ANY on a path would be chosen before OPTIONS /{proxy+}"


def test_what_needs_the_index_is_recalls_what_needs_a_permission_is_admins_and_all_else_is_memories() -> None:
    held: dict[str, set[tuple[str, str]]] = {}
    for path, method, function, _ in routes():
        held.setdefault(function, set()).add((path, method))

    assert held["Recall"] == {("/v1/search", "post"), ("/v1/context", "post"), ("/v1/days", "get")}
    agents = "/v1/admin/agents/{proxy+}"
    assert held["Admin"] == {("/v1/admin/memories", "get"), (agents, "get"), (agents, "put")}
    assert set(held) == {"Recall", "Admin", "Memories"}


def test_cors_survives_the_translation_with_every_part() -> None:
    body = translate(TEMPLATE, "eu-central-1")["Resources"]["Api"]["Properties"]["Body"]
    condition, cors, otherwise = body["x-amazon-apigateway-cors"]["Fn::If"]

    assert condition == "AllowsPages"
    assert set(cors) == {"allowOrigins", "allowMethods", "allowHeaders", "exposeHeaders", "maxAge"}
    assert {"authorization", "idempotency-key", "if-match"} <= set(cors["allowHeaders"])
    assert "etag" in cors["exposeHeaders"]
    assert otherwise == {"Ref": "AWS::NoValue"}


def test_tokens_come_from_the_own_pool_or_from_the_named_issuer() -> None:
    authorizer = properties("Api")["Auth"]["Authorizers"][properties("Api")["Auth"]["DefaultAuthorizer"]]
    jwt = authorizer["JwtConfiguration"]

    assert jwt["issuer"]["Fn::If"][0] == jwt["audience"]["Fn::If"][0] == "BuiltInIssuer"
    assert jwt["issuer"]["Fn::If"][2] == {"Ref": "TokenIssuer"}
    assert {resource(name)["Condition"] for name in ("UserPool", "UserPoolClient")} == {"BuiltInIssuer"}
    assert template()["Rules"]["OwnIssuerNamesItsAudience"], "an issuer without audience would let its other clients in"


def test_the_access_log_holds_no_path_no_query_no_address_and_no_error_text() -> None:
    logged = set(re.findall(r"\$context\.([\w.]+)", properties("Api")["AccessLogSettings"]["Format"]))

    assert logged == {
        "requestId", "requestTimeEpoch", "routeKey", "status", "responseLatency", "responseLength", "error.responseType",
        "integration.status", "integration.requestId", "integrationLatency",
    }  # fmt: skip


def test_an_import_path_is_the_path_on_disk() -> None:
    for function in FUNCTIONS:
        assert properties(f"{function}Function")["Handler"] == f"functions.{function.lower()}.app.handler"
        assert resource(f"{function}Function")["Metadata"] == {"BuildMethod": "makefile"}
    assert template()["Globals"]["Function"]["CodeUri"] == "functions/"


def test_every_function_says_why_it_is_one_of_its_own() -> None:
    text = TEMPLATE.read_text(encoding="utf-8")

    for function in FUNCTIONS:
        assert re.search(rf"  # A function of its own: (?:.+\n  # )*.+\n  {function}Function:\n", text), function


def test_the_runtime_stands_in_one_place_and_the_layers_are_built_for_it() -> None:
    runtime = template()["Globals"]["Function"]["Runtime"]
    layers = {resource(f"{name}Layer")["Metadata"]["BuildMethod"] for name in ("Dependencies", "Search")}

    assert layers == {runtime}
    assert not any("Runtime" in properties(f"{function}Function") for function in FUNCTIONS)


def test_only_recall_and_maintenance_carry_the_search_layer() -> None:
    carrying = {f for f in FUNCTIONS if {"Ref": "SearchLayer"} in properties(f"{f}Function")["Layers"]}

    assert carrying == {"Recall", "Maintenance"}


def test_functions_behind_the_api_answer_before_it_gives_up() -> None:
    for function in ("Memories", "Recall", "Admin"):
        assert properties(f"{function}Function")["Timeout"] < 30


def test_a_lease_and_the_wait_before_repair_outlive_every_run() -> None:
    longest = timedelta(seconds=max(properties(f"{function}Function")["Timeout"] for function in FUNCTIONS))

    assert longest < limits.LEASE
    assert longest <= limits.REPAIR_AFTER


def test_each_queue_waits_six_times_its_functions_time_out() -> None:
    for function, source in queue_sources():
        visibility = properties(target(source["Queue"]))["VisibilityTimeout"]
        assert visibility >= 6 * properties(f"{function}Function")["Timeout"], function


def test_queue_functions_take_one_record_and_report_it_by_itself() -> None:
    assert [function for function, _ in queue_sources()] == ["Extraction", "Maintenance"]
    for _, source in queue_sources():
        assert source["BatchSize"] == 1
        assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert source["ScalingConfig"]["MaximumConcurrency"]


def test_each_queue_is_fifo_and_gives_up_into_a_fifo_that_keeps_longer_or_as_long() -> None:
    queues = of_type("AWS::SQS::Queue")
    working = {name: queue for name, queue in queues.items() if "RedrivePolicy" in queue}

    assert set(working) == {"WorkQueue", "MaintenanceQueue"}
    assert all(queue["FifoQueue"] and queue["SqsManagedSseEnabled"] for queue in queues.values())
    for queue in working.values():
        dead_letters = queues[target(queue["RedrivePolicy"]["deadLetterTargetArn"])]
        assert queue["RedrivePolicy"]["maxReceiveCount"] == limits.ATTEMPTS
        assert dead_letters["MessageRetentionPeriod"] == 14 * 24 * 3600 >= queue["MessageRetentionPeriod"]


def test_the_table_recovers_expires_and_is_encrypted_with_our_key() -> None:
    table = properties("Table")

    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["DeletionProtectionEnabled"] is True
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["TimeToLiveSpecification"] == {"AttributeName": "ttl", "Enabled": True}
    assert table["SSESpecification"]["SSEType"] == "KMS"
    assert target(table["SSESpecification"]["KMSMasterKeyId"]) == "Key"


def test_the_indexes_hold_keys_only() -> None:
    indexes = {index["IndexName"]: index for index in properties("Table")["GlobalSecondaryIndexes"]}
    keys = {name: [key["AttributeName"] for key in index["KeySchema"]] for name, index in indexes.items()}

    assert keys == {"by_update": ["owner_status", "updated"], "due": ["due_shard", "due_at"]}
    assert all(index["Projection"] == {"ProjectionType": "KEYS_ONLY"} for index in indexes.values())


def test_the_bucket_is_versioned_encrypted_and_closed() -> None:
    bucket = properties("Bucket")
    rule = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"][0]

    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    assert bucket["OwnershipControls"]["Rules"] == [{"ObjectOwnership": "BucketOwnerEnforced"}]
    assert len(bucket["PublicAccessBlockConfiguration"]) == 4
    assert all(bucket["PublicAccessBlockConfiguration"].values())
    assert rule["BucketKeyEnabled"] is True
    assert rule["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "aws:kms"
    assert target(rule["ServerSideEncryptionByDefault"]["KMSMasterKeyID"]) == "Key"


def test_the_bucket_refuses_plain_connections() -> None:
    (deny,) = properties("BucketPolicy")["PolicyDocument"]["Statement"]

    assert (deny["Effect"], deny["Principal"], deny["Action"]) == ("Deny", "*", "s3:*")
    assert deny["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert deny["Resource"] == [{"Fn::GetAtt": ["Bucket", "Arn"]}, {"Fn::Sub": "${Bucket.Arn}/*"}]


def test_nothing_current_expires_by_age() -> None:
    rules = properties("Bucket")["LifecycleConfiguration"]["Rules"]
    kinds = {kind for rule in rules for kind in rule if kind not in {"Id", "Status"}}

    assert all(rule["Status"] == "Enabled" for rule in rules)
    assert kinds == {
        "NoncurrentVersionExpiration",
        "ExpiredObjectDeleteMarker",
        "AbortIncompleteMultipartUpload",
    }


@pytest.mark.parametrize("name", STAYING)
def test_what_memories_hang_on_outlives_the_stack(name: str) -> None:
    assert resource(name)["DeletionPolicy"] == resource(name)["UpdateReplacePolicy"] == "Retain"


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


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_logs_json_into_its_own_group_and_nowhere_else(function: str) -> None:
    logging = properties(f"{function}Function")["LoggingConfig"]
    (own,) = (s for s in statements(function) if any(action.startswith("logs:") for action in listed(s["Action"])))

    assert logging["LogFormat"] == "JSON"
    assert target(logging["LogGroup"]) == target(own["Resource"]) == f"{function}Log"


def test_every_log_group_forgets() -> None:
    groups = of_type("AWS::Logs::LogGroup")

    assert set(groups) == {"AccessLog", *(f"{function}Log" for function in FUNCTIONS)}
    assert all(group["RetentionInDays"] == {"Ref": "LogRetentionDays"} for group in groups.values())


def test_every_alarm_stands_and_can_reach_a_person() -> None:
    alarms = of_type("AWS::CloudWatch::Alarm")
    watched = {
        (target(alarm["Dimensions"][0]["Value"]), alarm["MetricName"]): alarm["Threshold"]
        for alarm in alarms.values()
        if "Dimensions" in alarm  # those of our own metrics: test_signals.py
    }

    assert watched == {
        ("WorkDeadLetters", "ApproximateNumberOfMessagesVisible"): 0,
        ("MaintenanceDeadLetters", "ApproximateNumberOfMessagesVisible"): 0,
        ("WorkQueue", "ApproximateNumberOfMessagesVisible"): 10,
        ("WorkQueue", "ApproximateAgeOfOldestMessage"): 120,
        ("MaintenanceQueue", "ApproximateAgeOfOldestMessage"): 3600,
    } | {(f"{function}Function", "Errors"): 0 for function in FUNCTIONS}
    for alarm in alarms.values():
        assert alarm["ComparisonOperator"] == "GreaterThanThreshold"
        assert alarm["TreatMissingData"] == "notBreaching"
        assert alarm["AlarmActions"] == {"Fn::If": ["MailsAlarms", [{"Ref": "AlarmTopic"}], {"Ref": "AWS::NoValue"}]}


def test_every_failed_task_counts_where_an_alarm_sees_it() -> None:
    alarm = properties("TasksFailedAlarm")
    found = of_type("AWS::Logs::MetricFilter")
    filters = {name: one for name, one in found.items() if "task_failed" in one["FilterPattern"]}

    assert {target(one["LogGroupName"]) for one in filters.values()} == {"ExtractionLog", "MaintenanceLog"}
    for one in filters.values():
        assert one["FilterPattern"] == '{ $.event = "task_failed" }'
        (counted,) = one["MetricTransformations"]
        assert (counted["MetricNamespace"], counted["MetricName"]) == (alarm["Namespace"], alarm["MetricName"])
        assert counted["MetricValue"] == "1"
    assert (alarm["Statistic"], alarm["Threshold"]) == ("Sum", 0)


def test_every_search_without_an_index_counts_under_its_reason_where_an_alarm_sees_it() -> None:
    counting, alarm = properties("IndexFallbacks"), properties("IndexFallbacksAlarm")
    (counted,) = counting["MetricTransformations"]
    watched = [one["MetricStat"]["Metric"] for one in alarm["Metrics"] if "MetricStat" in one]

    assert target(counting["LogGroupName"]) == "RecallLog"
    assert counting["FilterPattern"] == '{ $.event = "index_fallback" }'
    assert counted["Dimensions"] == [{"Key": "reason", "Value": "$.reason"}]
    assert [one["Dimensions"] for one in watched] == [
        [{"Name": "reason", "Value": reason}] for reason in ("missing", "corrupt")
    ]
    assert {one["MetricName"] for one in watched} == {counted["MetricName"]}


@pytest.mark.parametrize("reader", ["Recall", "Maintenance"])
def test_every_failed_embedding_counts(reader: str) -> None:
    counting = properties(f"{reader}EmbeddingFailures")
    (counted,) = counting["MetricTransformations"]

    assert target(counting["LogGroupName"]) == f"{reader}Log"
    assert counting["FilterPattern"] == '{ $.event = "embedding_failed" }'
    assert (counted["MetricName"], counted["MetricValue"]) == ("EmbeddingsFailed", "1")


def test_a_model_that_is_asked_has_its_name_and_address() -> None:
    rules = template()["Rules"]

    assert {name: rule["Assertions"][0]["Assert"] for name, rule in rules.items()} == {
        "OwnIssuerNamesItsAudience": {"Fn::Not": [{"Fn::Equals": [{"Ref": "TokenAudience"}, ""]}]},
        "ModelIsNamed": {"Fn::Not": [{"Fn::Equals": [{"Ref": "ModelId"}, ""]}]},
        "EndpointHasAnAddress": {"Fn::Not": [{"Fn::Equals": [{"Ref": "ModelUrl"}, ""]}]},
        "EmbeddingModelIsNamed": {"Fn::Not": [{"Fn::Equals": [{"Ref": "EmbeddingModel"}, ""]}]},
        "EmbeddingEndpointIsDescribed": {"Fn::Not": [{"Fn::Equals": [{"Ref": "EmbeddingUrl"}, ""]}]},
    }


def test_the_limits_a_deployer_may_change_have_their_defaults() -> None:
    defaults = {name: held["Default"] for name, held in template()["Parameters"].items()}

    assert defaults["Architecture"] == "arm64"
    assert (defaults["ActiveLimit"], defaults["QuotaMegabytes"], defaults["DailyConversationLimit"]) == (200, 100, 500)
    assert template()["Parameters"]["ExtractionConcurrency"]["MinValue"] == 2, "what SQS event sources allow"


def test_no_secret_stands_in_an_environment() -> None:
    environments = {name: properties(f"{name}Function")["Environment"]["Variables"] for name in FUNCTIONS}
    models = {name for name, environment in environments.items() if "MODEL_PROVIDER" in environment}

    assert models == {"Extraction", "Maintenance"}
    for environment in environments.values():
        assert {key: value for key, value in environment.items() if key.endswith("_API_KEY") and value} == {}
    assert models <= {function for function in FUNCTIONS if "secretsmanager:GetSecretValue" in actions(function)}
    assert "secretsmanager:GetSecretValue" not in actions("Memories")


@pytest.mark.parametrize("language", ["operations.md", "operations.zh.md"])
def test_the_manual_knows_every_parameter_alarm_and_output(language: str) -> None:
    manual = (ROOT / "docs" / language).read_text(encoding="utf-8")
    named = {*template()["Parameters"], *of_type("AWS::CloudWatch::Alarm"), *template()["Outputs"]}

    assert {name for name in named if f"`{name}`" not in manual} == set()
