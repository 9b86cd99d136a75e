"""docs/openapi.json says what the routes say."""

import json
from typing import Any

import pytest
from openapi_spec_validator import validate

from functions import openapi
from functions.admin import app as admin
from functions.memories import app as memories
from functions.recall import app as recall
from shared.http import routes_of


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(openapi.PATH.read_text())
    return loaded


def test_the_document_is_what_make_openapi_writes() -> None:
    assert openapi.PATH.read_text() == openapi.text(), "run make openapi"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the validator's own dependencies
def test_the_document_is_valid_openapi(document: dict[str, Any]) -> None:
    validate(document)


def test_every_route_is_described_with_its_errors_in_one_shape(document: dict[str, Any]) -> None:
    error = {"schema": {"$ref": "#/components/schemas/ErrorOut"}}
    for app in (memories.app, recall.app, admin.app):
        for route in routes_of(app):
            operation = document["paths"][route.openapi_path][route.method.lower()]
            assert operation["description"], route.path
            assert operation["summary"], route.path
            failing = {status: one for status, one in operation["responses"].items() if int(status) >= 400}
            assert {"401", "500"} <= set(failing), route.path
            gateways = failing.pop("401")["content"]["application/json"]["schema"]["anyOf"]
            assert error["schema"] in gateways
            for response in failing.values():
                assert response["content"] == {"application/json": error}


def test_every_route_says_what_it_answers_when_all_is_well(document: dict[str, Any]) -> None:
    for app in (memories.app, recall.app, admin.app):
        for route in routes_of(app):
            operation = document["paths"][route.openapi_path][route.method.lower()]
            well = {status: one for status, one in operation["responses"].items() if status < "300"}
            assert str(route.status_code) in well, route.path
            for status, answer in well.items():
                if status == "204":
                    assert "content" not in answer
                else:
                    name = answer["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
                    assert name in document["components"]["schemas"], route.path
            if "requestBody" in operation:
                assert {"400", "413", "415"} <= set(operation["responses"]), route.path
    assert {"200", "202"} <= set(document["paths"]["/v1/conversations"]["post"]["responses"])


def test_a_body_may_be_left_out_only_where_a_post_needs_no_field(document: dict[str, Any]) -> None:
    optional = [
        f"{method} {path}"
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if not operation.get("requestBody", {"required": True})["required"]
    ]
    assert sorted(optional) == [
        "post /v1/account/erase",
        "post /v1/context",
        "post /v1/forget",
        "post /v1/sessions",
        "post /v1/sessions/current/finalize",
    ]


def test_examples_speak_both_languages(document: dict[str, Any]) -> None:
    for name in ("MemoryIn", "MemoryPatch"):
        texts = [example.get("content", "") for example in document["components"]["schemas"][name]["examples"]]
        assert any(text and text.isascii() for text in texts), name
        assert any(not text.isascii() for text in texts), name


def test_a_change_has_no_defaults(document: dict[str, Any]) -> None:
    for name in ("MemoryPatch", "SettingsPatch"):
        properties = document["components"]["schemas"][name]["properties"]
        assert properties
        assert not [field for field, form in properties.items() if "default" in form]
