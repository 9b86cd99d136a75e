"""The text of a question and the JSON schema of its answer, in the shapes that providers take."""

import json
from collections.abc import Mapping
from typing import Any, Final

TOOL: Final = "answer"
"""The name under which the schema is offered, as a tool or as a format."""
_REFERENCE: Final = "#/$defs/"


def well_formed(text: str) -> str:
    """Return the text with a question mark for each lone surrogate: no JSON parser has to take one."""
    return text.encode("utf-8", "replace").decode()


def inlined(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema without `$defs`: some models and grammar compilers do not follow references. It must not refer to itself."""
    whole: dict[str, Any] = _inlined(schema, schema.get("$defs", {}))
    return whole


def strict(schema: Mapping[str, Any]) -> bool:
    """Tell whether every object is closed and names all its properties as required, which OpenAI's strict mode asks for."""
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False or set(schema.get("required", [])) != set(properties):
            return False
    return all(strict(part) for value in schema.values() for part in _parts(value))


def spelled(schema: Mapping[str, Any]) -> str:
    """Return what is added to a prompt where the provider takes no schema. It holds the word JSON, which DeepSeek asks for."""
    return (
        "\n\nAnswer with one JSON object and nothing else. / 只输出一个 JSON 对象，不要有其他内容。\n"
        f"JSON schema: {json.dumps(inlined(schema), ensure_ascii=False, separators=(',', ':'))}"
    )


def _parts(value: Any) -> list[Mapping[str, Any]]:
    """Return the mappings right under a keyword's value; that of `properties` is no schema, but those in it are."""
    if isinstance(value, Mapping):
        return [value]
    return [part for part in value if isinstance(part, Mapping)] if isinstance(value, list) else []


def _inlined(value: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(value, Mapping):
        reference = value.get("$ref")
        if isinstance(reference, str) and reference.startswith(_REFERENCE):
            beside = {name: part for name, part in value.items() if name != "$ref"}
            value = {**definitions[reference.removeprefix(_REFERENCE)], **beside}
        return {name: _inlined(part, definitions) for name, part in value.items() if name != "$defs"}
    return [_inlined(part, definitions) for part in value] if isinstance(value, list) else value
