"""What template.yaml promises of gateway, functions, queues and parameters, read from the file itself: nothing here talks to AWS."""

import re
from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from typing import Any

from local.template import translate
from shared.domain import limits
from tests.contract.template import FUNCTIONS, TEMPLATE, of_type, properties, resource, target, template


@cache
def paths() -> Any:
    return translate(TEMPLATE, "eu-central-1")["Resources"]["Api"]["Properties"]["Body"]["paths"]


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
