"""Settings of template.yaml that moto's CloudFormation drops in silence, set through the services' own calls."""

from collections.abc import Mapping
from typing import Any

import boto3


def _camel(rule: Mapping[str, Any]) -> dict[str, Any]:
    """A lifecycle rule as S3's call wants it: CloudFormation flattens some names."""
    made = {name: value for name, value in rule.items() if name not in {"Id", "ExpiredObjectDeleteMarker", "Prefix"}}
    if "ExpiredObjectDeleteMarker" in rule:
        made["Expiration"] = {"ExpiredObjectDeleteMarker": bool(rule["ExpiredObjectDeleteMarker"])}
    return {**made, "ID": rule["Id"], "Filter": {"Prefix": rule.get("Prefix", "")}}


def _integers(value: Any) -> Any:
    """Numbers as numbers: the template's are texts once parameters are filled in."""
    if isinstance(value, dict):
        return {name: _integers(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_integers(part) for part in value]
    return int(value) if isinstance(value, str) and value.isdigit() else value


def complete_bucket(name: str, properties: Mapping[str, Any], region: str) -> None:
    """Versioning, blocked public access, ownership and lifecycle of a bucket."""
    s3 = boto3.client("s3", region_name=region)
    if "VersioningConfiguration" in properties:
        status = properties["VersioningConfiguration"]["Status"]
        s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": status})
    if "PublicAccessBlockConfiguration" in properties:
        blocked: Any = properties["PublicAccessBlockConfiguration"]
        s3.put_public_access_block(Bucket=name, PublicAccessBlockConfiguration=blocked)
    if "OwnershipControls" in properties:
        s3.put_bucket_ownership_controls(Bucket=name, OwnershipControls=properties["OwnershipControls"])
    if "LifecycleConfiguration" in properties:
        rules: Any = [_camel(_integers(rule)) for rule in properties["LifecycleConfiguration"]["Rules"]]
        s3.put_bucket_lifecycle_configuration(Bucket=name, LifecycleConfiguration={"Rules": rules})


def complete_table(name: str, properties: Mapping[str, Any], region: str) -> None:
    """Expiry and point-in-time recovery of a table. moto keeps expired items: DynamoDB may too, for days."""
    dynamodb = boto3.client("dynamodb", region_name=region)
    if "TimeToLiveSpecification" in properties:
        dynamodb.update_time_to_live(TableName=name, TimeToLiveSpecification=properties["TimeToLiveSpecification"])
    if "PointInTimeRecoverySpecification" in properties:
        dynamodb.update_continuous_backups(
            TableName=name, PointInTimeRecoverySpecification=properties["PointInTimeRecoverySpecification"]
        )
