"""What an operator sees and can break: every stored byte, items and objects of an owner."""

import os
from typing import Any

from local.stack import Stack
from shared.crypto.owners import owner_name


def owner_of(stack: Stack, sub: str) -> str:
    """The owner that a subject of the local issuer is."""
    issuer = next(route.authorizer.issuer for route in stack.deployment.routes if route.authorizer is not None)
    return owner_name(issuer, sub)


def table_items(stack: Stack) -> list[dict[str, Any]]:
    """Every item of the table."""
    pages = stack.clients.dynamodb.get_paginator("scan").paginate(TableName=os.environ["TABLE_NAME"])
    return [dict(item) for page in pages for item in page["Items"]]


def items_of(stack: Stack, sub: str, prefix: str = "") -> list[dict[str, Any]]:
    """One owner's items whose sort key begins so."""
    pages = stack.clients.dynamodb.get_paginator("query").paginate(
        TableName=os.environ["TABLE_NAME"],
        KeyConditionExpression="pk = :owner",
        ExpressionAttributeValues={":owner": {"S": f"o#{owner_of(stack, sub)}"}},
    )
    return [dict(item) for page in pages for item in page["Items"] if item["sk"]["S"].startswith(prefix)]


def versions_of(stack: Stack, sub: str) -> list[tuple[str, str]]:
    """Names and ids of every version of one owner's objects, delete markers included: each write makes an id of its own."""
    bucket, prefix = os.environ["BUCKET_NAME"], f"o/{owner_of(stack, sub)}/"
    pages = stack.clients.s3.get_paginator("list_object_versions").paginate(Bucket=bucket, Prefix=prefix)
    every = (one for page in pages for one in (*page.get("Versions", []), *page.get("DeleteMarkers", [])))
    return [(one["Key"], one["VersionId"]) for one in every]


def objects(stack: Stack, sub: str = "") -> dict[str, bytes]:
    """Objects of the bucket as they are now, of one owner or of all."""
    bucket, s3 = os.environ["BUCKET_NAME"], stack.clients.s3
    prefix = f"o/{owner_of(stack, sub)}/" if sub else ""
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    keys = [one["Key"] for page in pages for one in page.get("Contents", [])]
    return {key: s3.get_object(Bucket=bucket, Key=key)["Body"].read() for key in keys}


def raw_bytes(stack: Stack) -> bytes:
    """Every byte of table and bucket, old versions and names included."""
    parts: list[bytes] = []
    for item in table_items(stack):
        parts.append(repr(item).encode())
        parts += [bytes(value["B"]) for value in item.values() if "B" in value]
    bucket, s3 = os.environ["BUCKET_NAME"], stack.clients.s3
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
        for version in page.get("Versions", []):
            parts.append(version["Key"].encode())
            got = s3.get_object(Bucket=bucket, Key=version["Key"], VersionId=version["VersionId"])
            parts.append(got["Body"].read())
    return b"\n".join(parts)
