"""The roles of template.yaml, held against what functions really call in the local stack, which itself allows everything.

Resources go by their logical names ("Table/index/due", "Bucket/o/x/1/journal/y"), so nothing needs an account.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from botocore import handlers
from samtranslator.yaml_helper import yaml_parse

from local.calls import FOLLOWED

TEMPLATE = Path(__file__).parents[2] / "template.yaml"
CONTEXT = "kms:EncryptionContext:"
OWNER = "dynamodb:LeadingKeys"
VARIABLES = {"TABLE_NAME": "Table", "BUCKET_NAME": "Bucket", "KEY_ID": "Key"}
VARIABLES |= {"WORK_QUEUE_URL": "WorkQueue", "MAINTENANCE_QUEUE_URL": "MaintenanceQueue"}
OBJECT_ACTIONS = {"GetObject": "GetObject", "HeadObject": "GetObject", "PutObject": "PutObject"}
LISTINGS = {"ListObjectsV2": "ListBucket", "ListObjectVersions": "ListBucketVersions"}


@dataclass(frozen=True, slots=True)
class Ask:
    """One permission that a call needs: action, resource, and its context: what KMS was told, or whose item it is."""

    action: str
    resource: str
    context: tuple[tuple[str, str], ...] = ()


def asks(service: str, operation: str, params: Mapping[str, Any]) -> Iterator[Ask]:
    """Yield what AWS would ask the caller's role for. Raises KeyError for a call nobody described here."""
    if service == "dynamodb":
        yield from _table_asks(operation, params)
    elif service == "s3":
        yield from _object_asks(operation, params)
    elif service == "kms":
        told = tuple(sorted((f"{CONTEXT}{key}", value) for key, value in params.get("EncryptionContext", {}).items()))
        yield Ask(f"kms:{operation}", "Key", told)
    elif service == "sqs":
        yield Ask(f"sqs:{operation}", _logical(params["QueueUrl"]))
    else:
        raise KeyError(service)


def _table_asks(operation: str, params: Mapping[str, Any]) -> Iterator[Ask]:
    if operation == "BatchGetItem":
        yield from (Ask("dynamodb:BatchGetItem", _logical(name)) for name in params["RequestItems"])
    elif operation == "TransactWriteItems":
        for item in params["TransactItems"]:
            ((kind, request),) = item.items()
            yield Ask(f"dynamodb:{kind}Item", _logical(request["TableName"]), _owned(request))
    else:
        index = f"/index/{params['IndexName']}" if "IndexName" in params else ""
        yield Ask(f"dynamodb:{operation}", _logical(params["TableName"]) + index, _owned(params))


def _owned(request: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    owner = (request.get("Key") or request.get("Item") or {}).get("pk")
    return ((OWNER, owner["S"]),) if owner else ()


def _object_asks(operation: str, params: Mapping[str, Any]) -> Iterator[Ask]:
    bucket = _logical(params["Bucket"])
    if operation == "DeleteObjects":
        for entry in params["Delete"]["Objects"]:
            action = "DeleteObjectVersion" if "VersionId" in entry else "DeleteObject"
            yield Ask(f"s3:{action}", f"{bucket}/{entry['Key']}")
    elif operation in LISTINGS:
        yield Ask(f"s3:{LISTINGS[operation]}", bucket)
    else:
        yield Ask(f"s3:{OBJECT_ACTIONS[operation]}", f"{bucket}/{params['Key']}")


def _logical(physical: str) -> str:
    return {os.environ[variable]: name for variable, name in VARIABLES.items()}[physical]


def _name(resource: Any) -> str:
    if "Fn::GetAtt" in resource:
        return str(resource["Fn::GetAtt"][0])
    return re.sub(r"\$\{(\w+)\.Arn\}", r"\1", resource["Fn::Sub"]) if "Fn::Sub" in resource else ""


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


class Roles:
    """Who may do what, by the logical name of a function without its ending ("Recall")."""

    def __init__(self, template: Mapping[str, Any]) -> None:
        self._statements: dict[str, list[Any]] = {}
        for resource in template["Resources"].values():
            if resource["Type"] == "AWS::IAM::Policy":
                for role in resource["Properties"]["Roles"]:
                    held = self._statements.setdefault(role["Ref"].removesuffix("Role"), [])
                    held += resource["Properties"]["PolicyDocument"]["Statement"]

    @classmethod
    def of_the_template(cls) -> "Roles":
        """The roles as they are deployed."""
        return cls(yaml_parse(TEMPLATE.read_text(encoding="utf-8")))

    def allow(self, function: str, ask: Ask) -> bool:
        """Whether a statement covers action, resource and conditions; `kms:ViaService` never holds for a direct call."""
        return any(
            any(fnmatchcase(ask.action, action) for action in _listed(statement["Action"]))
            and any(fnmatchcase(ask.resource, _name(resource)) for resource in _listed(statement["Resource"]))
            and _holds(statement.get("Condition", {}), dict(ask.context))
            for statement in self._statements[function]
        )


def _holds(condition: Mapping[str, Any], context: Mapping[str, str]) -> bool:
    """Whether a statement's condition holds. AWS lets a list that names nothing through; nothing here asks without naming."""
    of_all = condition.get("ForAllValues:StringEquals", {})
    return condition.get("StringEquals", {}).items() <= context.items() and all(
        context.get(name) in allowed for name, allowed in of_all.items()
    )


@dataclass(slots=True)
class Watch:
    """Looks at every call that functions make and keeps those their role would be refused."""

    roles: Roles
    refused: list[tuple[str, Ask]] = field(default_factory=list)
    seen: set[tuple[str, str]] = field(default_factory=set)

    def look(self, params: Mapping[str, Any], model: Any, **_: Any) -> None:
        """`before-parameter-build` of botocore."""
        trail = FOLLOWED.trail
        if trail is None:
            return
        function = trail.function.split("-")[1].removesuffix("Function")
        for ask in asks(model.service_model.service_name, model.name, params):
            self.seen.add((function, ask.action))
            if not self.roles.allow(function, ask):
                self.refused.append((function, ask))

    def start(self, patch: pytest.MonkeyPatch) -> None:
        """See the clients of every session made from now on."""
        patch.setattr(handlers, "BUILTIN_HANDLERS", [*handlers.BUILTIN_HANDLERS, ("before-parameter-build", self.look)])
