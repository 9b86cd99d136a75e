"""Writes docs/openapi.json from the routes: `make openapi`. It is no function; it only gathers what the functions say."""

import inspect
import json
import sys
from http import HTTPStatus
from pathlib import Path
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel

from shared.http import Edge, may_be_empty, routes_of

PATH = Path(__file__).parents[1] / "docs" / "openapi.json"
_SCHEME = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
_NOT_OURS = ("HTTPValidationError", "ResponseValidationError", "ValidationError")
"""Powertools documents its own errors; ours all have one shape."""
_OF_BODIES = (HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
"""What every body may be answered with."""
_ERROR = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorOut"}}}
_UNAUTHORIZED = {
    "application/json": {
        "schema": {
            "anyOf": [
                {"$ref": "#/components/schemas/ErrorOut"},
                {"type": "object", "required": ["message"], "properties": {"message": {"type": "string"}}},
            ]
        }
    }
}
"""Ours, or the gateway's own, which keeps its shape."""


def document(*edges: Edge) -> dict[str, Any]:
    """Return one OpenAPI document of all routes."""
    whole: dict[str, Any] = {"openapi": "3.1.0", "paths": {}, "components": {"schemas": {}}}
    for edge in edges:
        part = json.loads(
            edge.get_openapi_json_schema(
                title="Nacre",
                version="1",
                description="Long-term memory for AI agents, sealed per owner.",
                openapi_version="3.1.0",
            )
        )
        for route in routes_of(edge):
            _describe(route, part["paths"][route.openapi_path][route.method.lower()], part["components"]["schemas"])
        whole["info"] = part["info"]
        whole["paths"] |= part["paths"]
        whole["components"]["schemas"] |= part["components"]["schemas"]
    for name in _NOT_OURS:
        whole["components"]["schemas"].pop(name, None)
    whole["components"]["securitySchemes"] = {"token": _SCHEME}
    whole["security"] = [{"token": []}]
    return whole


def _describe(route: Any, operation: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Say what Powertools leaves out: the docstring, success, every error's shape, and the forms of parameters of a model."""
    operation["description"] = inspect.getdoc(route.func)
    operation["responses"] |= _success(route, schemas)
    if "requestBody" in operation:
        operation["requestBody"]["required"] = not may_be_empty(route)
        operation["responses"] |= {str(status): {"description": HTTPStatus(status).phrase} for status in _OF_BODIES}
    for status, response in operation["responses"].items():
        if int(status) >= 400:
            response["content"] = _UNAUTHORIZED if status == "401" else _ERROR
    for field in route.dependant.query_params:
        model = field.field_info.annotation
        if inspect.isclass(model) and issubclass(model, BaseModel):
            forms = model.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas.pop(model.__name__, None)
            schemas.update(forms.get("$defs", {}))
            for parameter in operation["parameters"]:
                parameter["schema"] = forms["properties"].get(parameter["name"], parameter["schema"])


def _success(route: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the answer that a route makes when all is well, as its annotation and its status say."""
    (model,) = get_args(get_type_hints(route.func, include_extras=True)["return"])
    answer: dict[str, Any] = {}
    if model is not type(None):
        form = model.model_json_schema(ref_template="#/components/schemas/{model}", mode="serialization")
        schemas.update(form.pop("$defs", {}))
        schemas[model.__name__] = form
        answer["content"] = {"application/json": {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}}
    others = [status for status in route.responses or {} if status < 300]
    return {str(status): answer | {"description": HTTPStatus(status).phrase} for status in (route.status_code, *others)}


def text() -> str:
    """Return the document of every function's routes as it is written."""
    from functions.admin import app as admin  # noqa: PLC0415 - same
    from functions.memories import app as memories  # noqa: PLC0415 - importing a function builds its routes
    from functions.recall import app as recall  # noqa: PLC0415 - same

    return (
        json.dumps(document(memories.app, recall.app, admin.app), ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    )


if __name__ == "__main__":
    PATH.write_text(text())
    sys.stdout.write(f"{PATH.name} written\n")
