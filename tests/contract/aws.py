"""Real adapters over the strict emulation, on the table that template.yaml declares; faults come by botocore events."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import ReadTimeoutError
from moto import mock_aws
from samtranslator.yaml_helper import yaml_parse

from local.emulation import install
from shared.adapters.dynamodb import DynamoTable
from shared.adapters.kms import KmsKeys
from shared.adapters.s3 import S3Objects
from shared.adapters.sqs import SqsQueue
from tests.fakes import SeededRandom

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_kms import KMSClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

TABLE, BUCKET, QUEUE = "table", "bucket", "work.fifo"
NOW = 1_800_000_000.0
TEMPLATE = Path(__file__).parents[2] / "template.yaml"
_hooks: list[ExitStack] = []
_CREDENTIALS = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": "eu-central-1"}


@dataclass
class Aws:
    """The clients of one emulated account, the adapters over them, and how long those would have slept."""

    dynamodb: "DynamoDBClient"
    s3: "S3Client"
    kms: "KMSClient"
    sqs: "SQSClient"
    table: DynamoTable
    objects: S3Objects
    keys: KmsKeys
    queue: SqsQueue
    key_id: str
    url: str
    slept: list[float]


@contextmanager
def emulated() -> Iterator[Aws]:
    """Start an empty account with the table, a versioned bucket, a key and a FIFO queue."""
    with mock_aws(), ExitStack() as hooks:
        made = {name: _client(name) for name in ("dynamodb", "s3", "kms", "sqs")}
        _hooks.append(hooks)
        hooks.callback(_hooks.pop)
        hooks.callback(install(lambda: NOW).undo)
        made["dynamodb"].create_table(TableName=TABLE, **_declared_table())
        made["s3"].create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
        made["s3"].put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
        key_id = made["kms"].create_key()["KeyMetadata"]["KeyId"]
        url = made["sqs"].create_queue(QueueName=QUEUE, Attributes={"FifoQueue": "true"})["QueueUrl"]
        slept: list[float] = []
        random = SeededRandom(1)
        yield Aws(
            **made,
            table=DynamoTable(made["dynamodb"], TABLE, slept.append, random),
            objects=S3Objects(made["s3"], BUCKET, slept.append, random),
            keys=KmsKeys(made["kms"], key_id),
            queue=SqsQueue(made["sqs"], url),
            key_id=key_id,
            url=url,
            slept=slept,
        )


@cache
def _client(service: str) -> Any:
    """Clients are slow to make, so tests share them; each test's hooks are taken off again."""
    config = Config(retries={"mode": "standard", "max_attempts": 3})
    return boto3.client(service, config=config, **_CREDENTIALS)  # type: ignore[call-overload]


def _hook(client: Any, stage: str, call: str, hook: Callable[..., Any]) -> None:
    event = f"{stage}.{client.meta.service_model.service_id.hyphenize()}.{call}"
    # What is to happen after a call happens in the order given, behind the account's own hooks.
    register = client.meta.events.register if stage == "after-call" else client.meta.events.register_first
    register(event, hook)
    _hooks[-1].callback(client.meta.events.unregister, event, hook)


@cache
def _declared_table() -> dict[str, Any]:
    properties = yaml_parse(TEMPLATE.read_text())["Resources"]["Table"]["Properties"]
    return {
        name: json.loads(json.dumps(properties[name]))
        for name in ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "BillingMode")
    }


@dataclass
class _Answer:
    """As much of an HTTP response as botocore looks at."""

    status_code: int


def refuse(client: Any, call: str, code: str, *, times: int = 1, status: int = 400, **parsed: Any) -> list[str]:
    """Answer the next calls with an error before they reach the service; returns the list of calls refused so far."""
    refused: list[str] = []

    def before(**_: Any) -> tuple[Any, dict[str, Any]] | None:
        if len(refused) == times:
            return None
        refused.append(code)
        error = {"Error": {"Code": code, "Message": "CANARY"}, "ResponseMetadata": {"HTTPStatusCode": status}}
        return _Answer(status), error | parsed

    _hook(client, "before-call", call, before)
    return refused


def lose_answer(client: Any, call: str, *, times: int = 1) -> None:
    """Let the next calls be done and their answers never arrive."""
    lost: list[str] = []

    def after(**_: Any) -> None:
        if len(lost) < times:
            lost.append(call)
            raise ReadTimeoutError(endpoint_url="CANARY")

    _hook(client, "after-call", call, after)


def repeat_once(client: Any, call: str) -> None:
    """Make the SDK itself send the next call twice, as it does when the first answer was lost on the way."""
    repeated: list[str] = []

    def again(**_: Any) -> float | None:
        if repeated:
            return None
        repeated.append(call)
        return 0.0

    _hook(client, "needs-retry", call, again)


def set_parameters(client: Any, call: str, **parameters: Any) -> list[dict[str, Any]]:
    """Set request parameters of the next calls, such as a page size; returns the requests made so far."""
    requests: list[dict[str, Any]] = []

    def provide(params: dict[str, Any], **_: Any) -> dict[str, Any]:
        requests.append(params)
        return {**params, **parameters}

    _hook(client, "provide-client-params", call, provide)
    return requests


def edit_answer(client: Any, call: str, edit: Callable[[dict[str, Any]], None], *, times: int = 1) -> None:
    """Change what the next calls answer, after they were done."""
    edited: list[str] = []

    def after(parsed: dict[str, Any], **_: Any) -> None:
        if len(edited) < times:
            edited.append(call)
            edit(parsed)

    _hook(client, "after-call", call, after)
