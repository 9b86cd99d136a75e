"""The template as tests read it."""

from functools import cache
from pathlib import Path
from typing import Any

from samtranslator.yaml_helper import yaml_parse

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "template.yaml"
FUNCTIONS = ("Memories", "Recall", "Admin", "Extraction", "Maintenance")


@cache
def template() -> Any:
    return yaml_parse(TEMPLATE.read_text(encoding="utf-8"))


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
