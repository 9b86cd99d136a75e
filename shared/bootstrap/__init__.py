"""The one place that builds adapters and use cases: on first use, once per process, from the environment.

Routes name these factories as dependencies; tests put others in their place.
"""

import secrets
import time
from datetime import UTC, datetime
from functools import cache
from typing import Any

from botocore.config import Config
from botocore.session import Session, get_session

from shared import config
from shared.adapters.dynamodb import DynamoTable
from shared.adapters.kms import KmsKeys
from shared.adapters.s3 import S3Objects
from shared.adapters.sqs import SqsQueue
from shared.observability import quieten
from shared.storage.commit import Commits
from shared.storage.transactions import Limits
from shared.storage.vaults import Vaults

_CLIENTS = Config(
    retries={"mode": "standard", "max_attempts": 3},
    connect_timeout=2,
    read_timeout=10,
    max_pool_connections=32,
)
"""Short enough that three attempts end within a function's time; as many connections as calls run together."""


def now() -> datetime:
    """Return the moment, in UTC."""
    return datetime.now(UTC)


def random(count: int) -> bytes:
    """Return that many unpredictable bytes."""
    return secrets.token_bytes(count)


@cache
def session() -> Session:
    """Return the session of all clients. botocore's own: boto3 adds transfers and resources that nothing here uses, and a
    third of its import."""
    return get_session()


@cache
def _client(service: str) -> Any:
    quieten()
    return session().create_client(service, config=_CLIENTS)


@cache
def vaults() -> Vaults:
    settings = config.storage()
    table = DynamoTable(_client("dynamodb"), settings.table_name, time.sleep, random)
    objects = S3Objects(_client("s3"), settings.bucket_name, time.sleep, random)
    return Vaults(table, objects, KmsKeys(_client("kms"), settings.key_id), now, random)


@cache
def commits() -> Commits:
    settings = config.bounds()
    return Commits(vaults(), Limits(settings.quota_bytes, settings.active), maintenance_queue())


@cache
def work_queue() -> SqsQueue:
    """The queue of conversations to learn from."""
    return SqsQueue(_client("sqs"), config.work_queue())


@cache
def maintenance_queue() -> SqsQueue:
    """The queue of owners to tidy."""
    return SqsQueue(_client("sqs"), config.maintenance_queue())
