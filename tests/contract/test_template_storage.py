"""What template.yaml promises of table and bucket: encrypted, closed, recoverable, and there when the stack is gone."""

import pytest

from tests.contract.template import properties, resource, target

STAYING = ("Table", "Bucket", "BucketPolicy", "Key", "UserPool", "UserPoolClient")


def test_the_table_recovers_expires_and_is_encrypted_with_our_key() -> None:
    table = properties("Table")

    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["DeletionProtectionEnabled"] is True
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["TimeToLiveSpecification"] == {"AttributeName": "ttl", "Enabled": True}
    assert table["SSESpecification"]["SSEType"] == "KMS"
    assert target(table["SSESpecification"]["KMSMasterKeyId"]) == "Key"


def test_the_indexes_hold_keys_only() -> None:
    indexes = {index["IndexName"]: index for index in properties("Table")["GlobalSecondaryIndexes"]}
    keys = {name: [key["AttributeName"] for key in index["KeySchema"]] for name, index in indexes.items()}

    assert keys == {"by_update": ["owner_status", "updated"], "due": ["due_shard", "due_at"]}
    assert all(index["Projection"] == {"ProjectionType": "KEYS_ONLY"} for index in indexes.values())


def test_the_bucket_is_versioned_encrypted_and_closed() -> None:
    bucket = properties("Bucket")
    rule = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"][0]

    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    assert bucket["OwnershipControls"]["Rules"] == [{"ObjectOwnership": "BucketOwnerEnforced"}]
    assert len(bucket["PublicAccessBlockConfiguration"]) == 4
    assert all(bucket["PublicAccessBlockConfiguration"].values())
    assert rule["BucketKeyEnabled"] is True
    assert rule["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "aws:kms"
    assert target(rule["ServerSideEncryptionByDefault"]["KMSMasterKeyID"]) == "Key"


def test_the_bucket_refuses_plain_connections() -> None:
    (deny,) = properties("BucketPolicy")["PolicyDocument"]["Statement"]

    assert (deny["Effect"], deny["Principal"], deny["Action"]) == ("Deny", "*", "s3:*")
    assert deny["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert deny["Resource"] == [{"Fn::GetAtt": ["Bucket", "Arn"]}, {"Fn::Sub": "${Bucket.Arn}/*"}]


def test_nothing_current_expires_by_age() -> None:
    rules = properties("Bucket")["LifecycleConfiguration"]["Rules"]
    kinds = {kind for rule in rules for kind in rule if kind not in {"Id", "Status"}}

    assert all(rule["Status"] == "Enabled" for rule in rules)
    assert kinds == {
        "NoncurrentVersionExpiration",
        "ExpiredObjectDeleteMarker",
        "AbortIncompleteMultipartUpload",
    }


@pytest.mark.parametrize("name", STAYING)
def test_what_memories_hang_on_outlives_the_stack(name: str) -> None:
    assert resource(name)["DeletionPolicy"] == resource(name)["UpdateReplacePolicy"] == "Retain"
