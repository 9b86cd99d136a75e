"""The resources that template.yaml declares, held by moto; what moto cannot hold is described from the template."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
from moto.cloudformation.parsing import get_model_map

from local.completion import complete_bucket, complete_table
from local.template import Intrinsics, TemplateError, translate

ACCOUNT = "123456789012"
REGION = "us-east-1"
STACK = "nacre"
_NOT_HELD = frozenset({"AWS::Lambda::LayerVersion"})
_FUNCTION_ARN = re.compile(r"arn:[^:]+:lambda:[^:]+:[^:]+:function:([^/:]+)")
_RATE = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")
_SECONDS = {"minute": 60, "hour": 3600, "day": 86400}


@dataclass(frozen=True)
class Function:
    """One Lambda function of the template. `timeout` in seconds, `memory` in MB."""

    name: str
    handler: str
    timeout: int
    memory: int
    environment: Mapping[str, str]


@dataclass(frozen=True)
class QueueSource:
    """A queue that feeds a function; `concurrency` is how many batches may run at once."""

    function: str
    queue_url: str
    queue_arn: str
    batch_size: int
    concurrency: int
    partial_failures: bool


@dataclass(frozen=True)
class Schedule:
    """A function's timer: seconds between two runs (None: not a rate, never runs by itself) and the event it gets."""

    function: str
    seconds: int | None
    event: Mapping[str, Any]


@dataclass(frozen=True)
class Authorizer:
    """A JWT authorizer: who must have issued a token, and for whom."""

    issuer: str
    audience: tuple[str, ...]


@dataclass(frozen=True)
class Route:
    """One route of the HTTP API: method or ANY, path pattern or $default, function, authorizer, scopes."""

    method: str
    path: str
    function: str
    authorizer: Authorizer | None
    scopes: tuple[str, ...]


@dataclass(frozen=True)
class Cors:
    """The HTTP API's CORS settings; empty origins mean none."""

    origins: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    exposed: tuple[str, ...] = ()
    max_age: int | None = None
    credentials: bool = False


@dataclass(frozen=True)
class Deployment:
    """Everything that the local stack needs to know of one deployed template."""

    functions: Mapping[str, Function]
    routes: tuple[Route, ...]
    cors: Cors
    sources: tuple[QueueSource, ...]
    schedules: tuple[Schedule, ...]
    dead_letters: tuple[str, ...]
    outputs: Mapping[str, str] = field(default_factory=dict)

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """One environment for all functions: they share this process. `given` overrides names that a function declares.

        Raises TemplateError when two functions declare one name with different values.
        """
        union: dict[str, str] = {}
        for function in self.functions.values():
            for name, declared in function.environment.items():
                value = given.get(name, declared)
                if union.setdefault(name, value) != value:
                    raise TemplateError(f"{name} differs among functions; one process cannot hold both values")
        return union


def _stand_in(template: Mapping[str, Any], name: str, attribute: str | None) -> str:
    """A name for something that moto cannot hold, shaped like what AWS would answer."""
    if name not in template["Resources"]:
        raise TemplateError(f"the template has no {name}")
    kind = template["Resources"][name]["Type"]
    if kind == "AWS::Cognito::UserPool" and attribute is None:
        return f"{REGION}_{name}"
    if attribute in {None, "Id", "Name"}:
        return f"local{name}".lower()
    return f"arn:aws:{kind.split('::')[1].lower()}:{REGION}:{ACCOUNT}:{name}"


class _Deployer:
    def __init__(self, template: dict[str, Any], parameters: Mapping[str, str]) -> None:
        self.template = template
        self.cloudformation = boto3.client("cloudformation", region_name=REGION)
        self.held: dict[str, str] = {}
        pseudo = {
            "AWS::Region": REGION,
            "AWS::AccountId": ACCOUNT,
            "AWS::Partition": "aws",
            "AWS::URLSuffix": "amazonaws.com",
            "AWS::StackName": STACK,
            "AWS::StackId": f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/{STACK}/local",
        }
        self.intrinsics = Intrinsics(template, parameters, pseudo, self._lookup)
        known = set(get_model_map()) - _NOT_HELD
        self.declared = {name: one for name, one in template["Resources"].items() if self.intrinsics.wanted(one)}
        self.holdable = {name for name, one in self.declared.items() if one["Type"] in known}

    def _lookup(self, name: str, attribute: str | None) -> Any:
        if name in self.held and attribute is None:
            return self.held[name]
        if name in self.held and attribute is not None:
            return self._held_attribute(name, attribute)
        return _stand_in(self.template, name, attribute)

    def _held_attribute(self, name: str, attribute: str) -> str:
        kind, physical = self.declared[name]["Type"], self.held[name]
        tail = physical.rsplit("/", 1)[-1]
        shapes = {
            ("AWS::DynamoDB::Table", "Arn"): f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{physical}",
            ("AWS::S3::Bucket", "Arn"): f"arn:aws:s3:::{physical}",
            ("AWS::SQS::Queue", "Arn"): f"arn:aws:sqs:{REGION}:{ACCOUNT}:{tail}",
            ("AWS::SQS::Queue", "QueueName"): tail,
            ("AWS::SQS::Queue", "QueueUrl"): physical,
            ("AWS::KMS::Key", "Arn"): f"arn:aws:kms:{REGION}:{ACCOUNT}:key/{physical}",
            ("AWS::KMS::Key", "KeyId"): physical,
            ("AWS::Lambda::Function", "Arn"): f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{physical}",
            ("AWS::IAM::Role", "Arn"): f"arn:aws:iam::{ACCOUNT}:role/{physical}",
            ("AWS::Logs::LogGroup", "Arn"): f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:{physical}:*",
        }
        if (kind, attribute) not in shapes:
            raise TemplateError(f"the local stack does not know {attribute} of {kind}")
        return shapes[kind, attribute]

    def create(self) -> None:
        """Let moto make what it can hold and learn the names it chose."""
        resources = {name: self._without_strangers(self.declared[name]) for name in sorted(self.holdable)}
        for name, resource in resources.items():
            if resource["Type"] == "AWS::SQS::Queue" and resource["Properties"].get("FifoQueue"):
                resource["Properties"].setdefault("QueueName", f"{STACK}-{name}.fifo")
            resource["DependsOn"] = [one for one in self._needs(resource) if one in resources]
            resource.pop("Condition", None)
            if resource["Type"] == "AWS::Lambda::Function":
                resource["Properties"]["Code"] = {"ZipFile": "code runs in the local stack's own process"}
                resource["Properties"].pop("Layers", None)
        body = {"AWSTemplateFormatVersion": "2010-09-09", "Resources": resources}
        # moto tries YAML first, which takes it a second; a tab is none, so it turns to JSON at once
        text = json.dumps(body, indent="\t")
        self.cloudformation.create_stack(StackName=STACK, TemplateBody=text)
        for page in self.cloudformation.get_paginator("list_stack_resources").paginate(StackName=STACK):
            for one in page["StackResourceSummaries"]:
                self.held[one["LogicalResourceId"]] = one["PhysicalResourceId"]
        missing = self.holdable - set(self.held)
        if missing:
            raise TemplateError(f"moto did not make {', '.join(sorted(missing))}")
        for name, properties in self.of_type("AWS::S3::Bucket"):
            complete_bucket(self.held[name], properties, REGION)
        for name, properties in self.of_type("AWS::DynamoDB::Table"):
            complete_table(self.held[name], properties, REGION)

    @staticmethod
    def _needs(resource: Mapping[str, Any]) -> list[str]:
        needs = resource.get("DependsOn", [])
        return [needs] if isinstance(needs, str) else list(needs)

    def _without_strangers(self, value: Any) -> Any:
        """Fill in everything but references to other resources that moto holds: those it fills in itself."""
        if isinstance(value, dict):
            if len(value) == 1:
                name, argument = next(iter(value.items()))
                if self._left_to_moto(name, argument):
                    return value
                if name == "Ref" or name.startswith("Fn::"):
                    if name == "Fn::If":
                        return self._without_strangers(argument[1 if self.intrinsics.holds(argument[0]) else 2])
                    return self.intrinsics.resolve(value)
            pairs = {key: self._without_strangers(part) for key, part in value.items()}
            return {key: part for key, part in pairs.items() if part != {"Ref": "AWS::NoValue"}}
        if isinstance(value, list):
            return [self._without_strangers(part) for part in value]
        return value

    def _left_to_moto(self, name: str, argument: Any) -> bool:
        if name == "Ref":
            return argument in self.holdable or argument == "AWS::NoValue"
        if name == "Fn::GetAtt":
            return (argument.split(".")[0] if isinstance(argument, str) else argument[0]) in self.holdable
        if name == "Fn::Sub" and isinstance(argument, str):
            return any(part.split(".")[0] in self.holdable for part in re.findall(r"\$\{([^}!]+)\}", argument))
        return False

    def of_type(self, kind: str) -> list[tuple[str, dict[str, Any]]]:
        """Names and resolved properties of all resources of one type."""
        return [
            (name, self.intrinsics.resolve(one.get("Properties", {})))
            for name, one in self.declared.items()
            if one["Type"] == kind
        ]

    def functions(self) -> dict[str, Function]:
        found = {}
        for name, properties in self.of_type("AWS::Lambda::Function"):
            variables = properties.get("Environment", {}).get("Variables", {})
            found[self.held[name]] = Function(
                name=self.held[name],
                handler=properties["Handler"],
                timeout=int(properties.get("Timeout", 3)),
                memory=int(properties.get("MemorySize", 128)),
                environment={key: str(value) for key, value in variables.items()},
            )
        return found

    def sources(self) -> list[QueueSource]:
        urls = {self._held_attribute(name, "Arn"): self.held[name] for name, _ in self.of_type("AWS::SQS::Queue")}
        return [
            QueueSource(
                function=_function_in(properties["FunctionName"]),
                queue_url=urls[properties["EventSourceArn"]],
                queue_arn=properties["EventSourceArn"],
                batch_size=int(properties.get("BatchSize", 10)),
                concurrency=int(properties.get("ScalingConfig", {}).get("MaximumConcurrency", 5)),
                partial_failures="ReportBatchItemFailures" in properties.get("FunctionResponseTypes", []),
            )
            for _, properties in self.of_type("AWS::Lambda::EventSourceMapping")
            if properties.get("EventSourceArn") in urls
        ]

    def dead_letters(self) -> list[str]:
        urls = {self._held_attribute(name, "Arn"): self.held[name] for name, _ in self.of_type("AWS::SQS::Queue")}
        policies = [one.get("RedrivePolicy") for _, one in self.of_type("AWS::SQS::Queue")]
        return sorted({urls[one["deadLetterTargetArn"]] for one in policies if one})

    def schedules(self) -> list[Schedule]:
        found = []
        for _, properties in self.of_type("AWS::Events::Rule"):
            found += [_schedule(properties["ScheduleExpression"], target) for target in properties["Targets"]]
        for _, properties in self.of_type("AWS::Scheduler::Schedule"):
            found.append(_schedule(properties["ScheduleExpression"], properties["Target"]))
        return found


def _function_in(text: str) -> str:
    found = _FUNCTION_ARN.search(text)
    return found[1] if found else text


def _schedule(expression: str, target: Mapping[str, Any]) -> Schedule:
    rate = _RATE.fullmatch(expression)
    seconds = int(rate[1]) * _SECONDS[rate[2]] if rate else None
    return Schedule(_function_in(target["Arn"]), seconds, json.loads(target.get("Input", "{}")))


def _authorizers(body: Mapping[str, Any]) -> dict[str, Authorizer]:
    schemes = body.get("components", {}).get("securitySchemes", {})
    found = {}
    for name, scheme in schemes.items():
        settings = scheme["x-amazon-apigateway-authorizer"]
        if settings.get("type") != "jwt":
            raise TemplateError(f"the local stack knows JWT authorizers only, not {settings.get('type')}")
        token = settings["jwtConfiguration"]
        audience = token["audience"]
        found[name] = Authorizer(token["issuer"], tuple([audience] if isinstance(audience, str) else audience))
    return found


def _routes(body: Mapping[str, Any]) -> list[Route]:
    authorizers = _authorizers(body)
    routes = []
    for path, methods in body["paths"].items():
        for method, operation in methods.items():
            integration = operation["x-amazon-apigateway-integration"]
            security: dict[str, list[str]] = next(iter(operation.get("security", [{}])), {})
            name = next(iter(security), "NONE")
            routes.append(
                Route(
                    method="ANY" if method == "x-amazon-apigateway-any-method" else method.upper(),
                    path=path,
                    function=_function_in(integration["uri"]),
                    authorizer=None if name == "NONE" else authorizers[name],
                    scopes=tuple(security.get(name, [])),
                )
            )
    return routes


def _listed(value: Any) -> tuple[str, ...]:
    return tuple([value] if isinstance(value, str) else value or [])


def _cors(body: Mapping[str, Any]) -> Cors:
    settings = body.get("x-amazon-apigateway-cors", {})
    return Cors(
        origins=_listed(settings.get("allowOrigins")),
        methods=_listed(settings.get("allowMethods")),
        headers=_listed(settings.get("allowHeaders")),
        exposed=_listed(settings.get("exposeHeaders")),
        max_age=settings.get("maxAge"),
        credentials=bool(settings.get("allowCredentials", False)),
    )


def deploy(path: Path, parameters: Mapping[str, str]) -> Deployment:
    """Make the template's resources in moto, which must be active, and describe the rest.

    Raises TemplateError for anything that the local stack cannot stand in for.
    """
    deployer = _Deployer(translate(path, REGION), parameters)
    deployer.create()
    apis = deployer.of_type("AWS::ApiGatewayV2::Api")
    outputs = {
        name: str(deployer.intrinsics.resolve(one["Value"]))
        for name, one in deployer.template.get("Outputs", {}).items()
        if deployer.intrinsics.wanted(one)
    }
    return Deployment(
        functions=deployer.functions(),
        routes=tuple(route for _, api in apis for route in _routes(api["Body"])),
        cors=_cors(apis[0][1]["Body"]) if apis else Cors(),
        sources=tuple(deployer.sources()),
        schedules=tuple(deployer.schedules()),
        dead_letters=tuple(deployer.dead_letters()),
        outputs=outputs,
    )
