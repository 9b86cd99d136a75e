"""boto3 clients that look into the emulated account from this process; the functions make their own."""

from functools import cached_property

import boto3
from mypy_boto3_dynamodb import DynamoDBClient
from mypy_boto3_kms import KMSClient
from mypy_boto3_s3 import S3Client
from mypy_boto3_sqs import SQSClient


class Clients:
    """One client a service, made on first use."""

    def __init__(self, session: boto3.session.Session) -> None:
        self._session = session

    @cached_property
    def dynamodb(self) -> DynamoDBClient:
        """The table."""
        return self._session.client("dynamodb")

    @cached_property
    def s3(self) -> S3Client:
        """The bucket."""
        return self._session.client("s3")

    @cached_property
    def sqs(self) -> SQSClient:
        """The queues."""
        return self._session.client("sqs")

    @cached_property
    def kms(self) -> KMSClient:
        """The key."""
        return self._session.client("kms")
