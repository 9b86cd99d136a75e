"""template.yaml as CloudFormation would see it: translated from SAM, parameters filled in, conditions decided."""

import os
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

import boto3
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse

Lookup = Callable[[str, str | None], Any]
_VARIABLE = re.compile(r"\$\{([^!}][^}]*)\}")
_NOTHING = object()


class TemplateError(Exception):
    """The template uses something that the local stack cannot stand in for; the message names it."""


def translate(path: Path, region: str) -> dict[str, Any]:
    """Read a SAM template and return plain CloudFormation; code and layers point to a place that nobody reads."""
    return deepcopy(_translated(path.read_text(encoding="utf-8"), region))


@lru_cache(maxsize=4)  # a process that starts one stack after the other translates the same text again and again
def _translated(text: str, region: str) -> dict[str, Any]:
    template: dict[str, Any] = yaml_parse(text)
    template.get("Globals", {}).get("Function", {}).pop("CodeUri", None)
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"]["CodeUri"] = "s3://local/code"
        elif resource["Type"] == "AWS::Serverless::LayerVersion":
            resource["Properties"]["ContentUri"] = "s3://local/layer"
    session = boto3.session.Session(region_name=region)
    before = os.environ.get("AWS_DEFAULT_REGION")
    os.environ["AWS_DEFAULT_REGION"] = region  # the translator asks for it in places that ignore its session
    try:
        translated: dict[str, Any] = Translator({}, Parser(), boto_session=session).translate(template, {})
    finally:
        if before is None:
            del os.environ["AWS_DEFAULT_REGION"]
        else:
            os.environ["AWS_DEFAULT_REGION"] = before
    return translated


class Intrinsics:
    """Fills in Ref, Fn::GetAtt, Fn::Sub, Fn::If and their kin.

    `lookup(logical id, attribute or None)` answers for resources; pseudo parameters and parameters are known here.
    """

    def __init__(
        self, template: Mapping[str, Any], parameters: Mapping[str, str], pseudo: Mapping[str, str], lookup: Lookup
    ) -> None:
        self._template = template
        self._pseudo = pseudo
        self._lookup = lookup
        unknown = set(parameters) - set(template.get("Parameters", {}))
        if unknown:
            raise TemplateError(f"no such template parameter: {', '.join(sorted(unknown))}")
        self.parameters = {
            name: self._parameter(declared, parameters.get(name, declared.get("Default", "")))
            for name, declared in template.get("Parameters", {}).items()
        }

    @staticmethod
    def _parameter(declared: Mapping[str, Any], value: Any) -> Any:
        if declared["Type"] in {"CommaDelimitedList", "List<Number>"}:
            return [part.strip() for part in str(value).split(",")]
        return str(value)

    def holds(self, condition: str) -> bool:
        """Whether a named condition of the template is true."""
        return bool(self.resolve(self._template["Conditions"][condition]))

    def wanted(self, resource: Mapping[str, Any]) -> bool:
        """Whether a resource exists under the template's conditions."""
        return "Condition" not in resource or self.holds(resource["Condition"])

    def resolve(self, value: Any) -> Any:
        """The value with every intrinsic filled in; AWS::NoValue leaves maps and lists."""
        if isinstance(value, dict):
            if len(value) == 1:
                name, argument = next(iter(value.items()))
                if name in {"Ref", "Condition"} or name.startswith("Fn::"):
                    return self._call(name, argument)
            pairs = ((key, self.resolve(part)) for key, part in value.items())
            return {key: part for key, part in pairs if part is not _NOTHING}
        if isinstance(value, list):
            return [part for part in map(self.resolve, value) if part is not _NOTHING]
        return value

    def _call(self, name: str, argument: Any) -> Any:
        methods: dict[str, Callable[[Any], Any]] = {
            "Ref": self._ref,
            "Condition": self.holds,
            "Fn::GetAtt": self._attribute,
            "Fn::Sub": self._sub,
            "Fn::If": lambda parts: self.resolve(parts[1] if self.holds(parts[0]) else parts[2]),
            "Fn::Equals": lambda parts: self.resolve(parts[0]) == self.resolve(parts[1]),
            "Fn::Not": lambda parts: not self.resolve(parts[0]),
            "Fn::And": lambda parts: all(map(self.resolve, parts)),
            "Fn::Or": lambda parts: any(map(self.resolve, parts)),
            "Fn::Join": lambda parts: str(parts[0]).join(map(str, self.resolve(parts[1]))),
            "Fn::Split": lambda parts: self.resolve(parts[1]).split(parts[0]),
            "Fn::Select": lambda parts: self.resolve(parts[1])[int(self.resolve(parts[0]))],
        }
        if name not in methods:
            raise TemplateError(f"the local stack does not know {name}")
        return methods[name](argument)

    def _ref(self, name: str) -> Any:
        if name == "AWS::NoValue":
            return _NOTHING
        if name in self._pseudo:
            return self._pseudo[name]
        return self.parameters[name] if name in self.parameters else self._lookup(name, None)

    def _attribute(self, argument: Any) -> Any:
        name, attribute = argument.split(".", 1) if isinstance(argument, str) else argument
        return self._lookup(name, attribute)

    def _sub(self, argument: Any) -> str:
        text, given = (argument, {}) if isinstance(argument, str) else argument

        def fill(found: re.Match[str]) -> str:
            name = found[1]
            if name in given:
                return str(self.resolve(given[name]))
            return str(self._attribute(name) if "." in name else self._ref(name))

        return _VARIABLE.sub(fill, text).replace("${!", "${")
