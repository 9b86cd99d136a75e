"""The local stack as a whole: real HTTP, template.yaml's resources, queues that feed functions, measured calls."""

import contextvars
import functools
import http.client
import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest

from local.pollers import queue_of
from local.stack import EVERYONE, Stack

ROOT = Path(__file__).parents[2]
Events = list[dict[str, Any]]


class Sample:
    """Handlers that stand in for the service: they use the resources that the template gives them."""

    def __init__(self) -> None:
        self.batches: Events = []
        self.schedules: Events = []
        self.report: Callable[[dict[str, Any]], Any] = lambda _event: None

    def memories(self, event: Any, context: Any) -> Any:
        table, queues = boto3.client("dynamodb"), boto3.client("sqs")
        name = os.environ["TABLE_NAME"]
        if event["rawPath"] == "/v1/parallel":
            with ThreadPoolExecutor(3) as pool:
                run = contextvars.copy_context().run
                read = functools.partial(table.get_item, TableName=name)
                reads = [pool.submit(run, read, Key=_key("0"))]
                reads += [pool.submit(read, Key=_key(str(place))) for place in (1, 2)]
                for one in reads:
                    one.result()
        table.put_item(TableName=name, Item=_key("a"))
        if event["rawPath"] == "/v1/learn":
            body = json.loads(event["body"])
            queues.send_message(
                QueueUrl=os.environ["WORK_QUEUE_URL"],
                MessageBody=json.dumps(body),
                MessageGroupId=body["group"],
                MessageDeduplicationId=context.aws_request_id,
            )
        claims = event["requestContext"].get("authorizer", {"jwt": {"claims": {}}})["jwt"]["claims"]
        seen = {"sub": claims.get("sub"), "path": event["rawPath"], "length": len(event.get("body", ""))}
        return {"statusCode": 200, "headers": {"content-type": "application/json"}, "body": json.dumps(seen)}

    def extraction(self, event: Any, _context: Any) -> Any:
        self.batches.append(event)
        return self.report(event)

    def maintenance(self, event: Any, _context: Any) -> None:
        self.schedules.append(event)


def _key(sk: str) -> Any:
    return {"pk": {"S": "o"}, "sk": {"S": sk}}


def _handlers(sample: Sample) -> dict[str, Any]:
    return {
        "functions.memories.app.handler": sample.memories,
        "functions.recall.app.handler": sample.memories,
        "functions.extraction.app.handler": sample.extraction,
        "functions.maintenance.app.handler": sample.maintenance,
    }


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[Stack, Sample]]:
    sample = Sample()
    with Stack.start(schedule=False, aws_port=0, handlers=_handlers(sample), environment={"MODEL_ID": "m"}) as stack:
        yield stack, sample


@pytest.fixture
def sample(running: tuple[Stack, Sample]) -> Sample:
    running[1].__init__()  # type: ignore[misc]
    return running[1]


@pytest.fixture
def stack(running: tuple[Stack, Sample], sample: Sample) -> Stack:
    for url in (*running[0].deployment.dead_letters, running[0].deployment.outputs["WorkQueueUrl"]):
        queue_of(url).last_purged_at = None  # purging is allowed once a minute only
        running[0].clients.sqs.purge_queue(QueueUrl=url)
    running[0].functions.failures.clear()
    running[0].calls.clear()
    return running[0]


class Answer:
    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = dict(response.getheaders())
        self.body = response.read()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def trace(self) -> str:
        return self.headers["apigw-requestid"]


def send(stack: Stack, method: str, path: str, body: Any = None, user: str | None = "ann", **headers: str) -> Answer:
    connection = http.client.HTTPConnection(urlsplit(stack.url).netloc, timeout=30)
    named = {"content-type": "application/json", **headers}
    if user is not None:
        named["authorization"] = f"Bearer {stack.token(user)}"
    chunked = isinstance(body, Iterator)
    raw = body if chunked or body is None else json.dumps(body).encode()
    connection.request(method, path, body=raw, headers=named, encode_chunked=chunked)
    answer = Answer(connection.getresponse())
    connection.close()
    return answer


def test_a_request_reaches_the_function_that_the_template_names(stack: Stack) -> None:
    answer = send(stack, "GET", "/v1/memories?limit=1")
    assert (answer.status, answer.json) == (200, {"sub": "ann", "path": "/v1/memories", "length": 0})
    table = stack.deployment.outputs["TableName"]
    assert stack.clients.dynamodb.get_item(TableName=table, Key=_key("a"))["Item"] == _key("a")


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/search", "/nothing"])
def test_no_route_answers_without_a_token(stack: Stack, path: str) -> None:
    answer = send(stack, "POST", path, {}, user=None)
    assert (answer.status, answer.json) == (401, {"message": "Unauthorized"})


def test_a_connection_serves_many_requests(stack: Stack) -> None:
    connection = http.client.HTTPConnection(urlsplit(stack.url).netloc, timeout=30)
    headers = {"authorization": f"Bearer {stack.token('ann')}"}
    sockets = set()
    for _ in range(3):
        connection.request("GET", "/v1/a", headers=headers)
        answer = connection.getresponse()
        sockets.add(id(connection.sock))
        assert (answer.status, answer.read() != b"") == (200, True)
    assert len(sockets) == 1
    connection.close()


def test_a_chunked_body_arrives_whole(stack: Stack) -> None:
    answer = send(stack, "POST", "/v1/a", iter([b"abc", b"defg"]), **{"transfer-encoding": "chunked"})
    assert answer.json["length"] == 7


def test_a_body_above_ten_megabytes_is_refused_before_it_is_read(stack: Stack) -> None:
    connection = http.client.HTTPConnection(urlsplit(stack.url).netloc, timeout=30)
    connection.putrequest("POST", "/v1/a")
    connection.putheader("content-length", str(10 * 1024 * 1024 + 1))
    connection.endheaders()
    answer = Answer(connection.getresponse())
    assert (answer.status, answer.json) == (413, {"message": "Request Too Long"})
    connection.close()


@pytest.mark.parametrize("length", ["-1", "many"])
def test_a_content_length_that_is_none_is_a_bad_request(stack: Stack, length: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(stack.url).netloc, timeout=30)
    connection.putrequest("POST", "/v1/a")
    connection.putheader("content-length", length)
    connection.endheaders()
    assert Answer(connection.getresponse()).status == 400
    connection.close()


def test_an_address_that_is_not_ascii_is_refused_in_words(stack: Stack) -> None:
    where = urlsplit(stack.url)
    with socket.create_connection((where.hostname, where.port), timeout=30) as plain:
        plain.sendall("GET /v1/memories?project=商城 HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n".encode())
        answer = plain.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"percent-encode what is not ASCII" in answer


def test_a_message_becomes_one_sqs_event_and_is_gone_afterwards(stack: Stack, sample: Sample) -> None:
    assert send(stack, "POST", "/v1/learn", {"group": "g"}).status == 200
    assert stack.wait_until_idle()
    (record,) = sample.batches[0]["Records"]
    assert json.loads(record["body"]) == {"group": "g"}
    assert record["attributes"].keys() == {
        "ApproximateReceiveCount",
        "SentTimestamp",
        "SequenceNumber",
        "MessageGroupId",
        "SenderId",
        "MessageDeduplicationId",
        "ApproximateFirstReceiveTimestamp",
    }
    assert record.keys() == {
        "messageId",
        "receiptHandle",
        "body",
        "attributes",
        "messageAttributes",
        "md5OfBody",
        "eventSource",
        "eventSourceARN",
        "awsRegion",
    }
    assert (record["eventSource"], record["eventSourceARN"].rsplit(":", 1)[-1]) == ("aws:sqs", "nacre-WorkQueue.fifo")
    assert (len(sample.batches), stack.pollers.waiting()) == (1, 0)


def failing_report(event: dict[str, Any]) -> Any:
    return {"batchItemFailures": [{"itemIdentifier": record["messageId"]} for record in event["Records"]]}


def raising(_event: dict[str, Any]) -> Any:
    raise ValueError("not today")


@pytest.mark.parametrize("report", [failing_report, raising])
def test_a_failing_message_is_tried_three_times_and_then_lies_in_the_dead_letter_queue(
    stack: Stack, sample: Sample, report: Callable[[dict[str, Any]], Any]
) -> None:
    sample.report = report
    send(stack, "POST", "/v1/learn", {"group": "poison"})
    for tries in (1, 2, 3):
        assert stack.wait_until_idle()
        counts = [batch["Records"][0]["attributes"]["ApproximateReceiveCount"] for batch in sample.batches]
        assert counts == [str(number) for number in range(1, tries + 1)]
        assert stack.pollers.waiting() == 1
        stack.queue_clock.advance(1800)
    assert stack.wait_until_idle()
    assert (len(sample.batches), stack.pollers.waiting(), stack.dead_letters()) == (3, 0, 1)


def test_one_groups_failure_does_not_delay_another_group(stack: Stack, sample: Sample) -> None:
    def report(event: dict[str, Any]) -> Any:
        return failing_report(event) if event["Records"][0]["attributes"]["MessageGroupId"] == "bad" else None

    sample.report = report
    for group in ("bad", "good", "bad", "good"):
        send(stack, "POST", "/v1/learn", {"group": group})
    assert stack.wait_until_idle()
    groups = [batch["Records"][0]["attributes"]["MessageGroupId"] for batch in sample.batches]
    assert sorted(groups) == ["bad", "good", "good"]
    assert stack.pollers.waiting() == 2


def test_a_function_may_shorten_its_messages_wait(stack: Stack, sample: Sample) -> None:
    def report(event: dict[str, Any]) -> Any:
        (record,) = event["Records"]
        if record["attributes"]["ApproximateReceiveCount"] == "1":
            url = os.environ["WORK_QUEUE_URL"]
            boto3.client("sqs").change_message_visibility(
                QueueUrl=url, ReceiptHandle=record["receiptHandle"], VisibilityTimeout=0
            )
            return failing_report(event)
        return None

    sample.report = report
    send(stack, "POST", "/v1/learn", {"group": "g"})
    assert stack.wait_until_idle()
    assert (len(sample.batches), stack.pollers.waiting()) == (2, 0)


def test_batches_of_different_groups_run_at_once_up_to_the_templates_limit(stack: Stack, sample: Sample) -> None:
    gate = threading.Barrier(5)

    def report(_event: dict[str, Any]) -> None:
        gate.wait(20)

    sample.report = report
    for place in range(5):
        send(stack, "POST", "/v1/learn", {"group": f"g{place}"})
    assert stack.wait_until_idle()
    assert stack.functions.failures == []
    assert stack.pollers.waiting() == 0


def test_maintenance_tidies_everyone_or_one_owner_and_says_what_ran(stack: Stack, sample: Sample) -> None:
    answer = send(stack, "POST", "/local/maintenance", user=None)
    assert answer.json == {"functions": {"maintenance": 1}, "dead_letters": 0, "waiting": 0, "idle": True}
    assert sample.schedules == [EVERYONE]
    assert stack.run_maintenance("o")["idle"]
    assert sample.schedules == [EVERYONE, {**EVERYONE, "owner": "o"}]
    assert [dict(schedule.event) for schedule in stack.deployment.schedules] == [{"kind": "schedule"}]


def test_tokens_are_given_to_any_user_and_subject(stack: Stack) -> None:
    for asked, sub in (({"user": "bob", "groups": ["admin"]}, "bob"), ({"user": "bob", "sub": "../é"}, "../é")):
        token = send(stack, "POST", "/local/token", asked, user=None).json["token"]
        assert send(stack, "GET", "/v1/a", user=None, authorization=f"Bearer {token}").json["sub"] == sub


@pytest.mark.parametrize("asked", [None, [], {}, {"user": 1}, {"user": "a", "groups": "b"}, {"user": "a", "sub": 1}])
def test_a_token_request_that_makes_no_sense_is_told_so(stack: Stack, asked: Any) -> None:
    assert send(stack, "POST", "/local/token", asked, user=None).status == 400


def test_local_routes_answer_to_this_machines_names_only(stack: Stack) -> None:
    assert send(stack, "GET", "/local/health", user=None).json == {"status": "ok"}
    assert send(stack, "GET", "/local/health", user=None, host="evil.example").status == 404
    assert send(stack, "GET", "/local/other", user=None).status == 404


def test_calls_are_counted_in_steps_units_and_bytes(stack: Stack) -> None:
    alone = stack.calls.cost(send(stack, "GET", "/v1/a").trace)
    assert (alone.steps, alone.calls, alone.write_units) == (1, 1, 1)
    parallel = stack.calls.cost(send(stack, "GET", "/v1/parallel").trace)
    assert (parallel.steps, parallel.calls, parallel.read_units) == (2, 4, 1.5)
    assert parallel.request_bytes > alone.request_bytes > 0
    sequence = stack.calls.of(send(stack, "POST", "/v1/learn", {"group": "g"}).trace)
    assert [(call.step, call.service, call.operation) for call in sequence] == [
        (1, "dynamodb", "PutItem"),
        (2, "sqs", "SendMessage"),
    ]


def test_other_tools_see_the_same_resources_over_http(stack: Stack) -> None:
    send(stack, "GET", "/v1/a")
    outside = boto3.client(
        "dynamodb", "us-east-1", endpoint_url=stack.aws_endpoint, aws_access_key_id="x", aws_secret_access_key="x"
    )
    assert outside.get_item(TableName=stack.deployment.outputs["TableName"], Key=_key("a"))["Item"] == _key("a")


def test_the_resources_have_the_templates_settings(stack: Stack) -> None:
    clients, outputs = stack.clients, stack.deployment.outputs
    table = clients.dynamodb.describe_table(TableName=outputs["TableName"])["Table"]
    assert {index["IndexName"] for index in table["GlobalSecondaryIndexes"]} == {"by_update", "due"}
    assert clients.s3.get_bucket_versioning(Bucket=outputs["BucketName"])["Status"] == "Enabled"
    rules = clients.s3.get_bucket_lifecycle_configuration(Bucket=outputs["BucketName"])["Rules"]
    assert {rule["ID"] for rule in rules} == {"superseded-versions", "unfinished-uploads"}
    blocked = clients.s3.get_public_access_block(Bucket=outputs["BucketName"])["PublicAccessBlockConfiguration"]
    assert all(blocked.values())
    expiry = clients.dynamodb.describe_time_to_live(TableName=outputs["TableName"])["TimeToLiveDescription"]
    assert expiry == {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}
    backups = clients.dynamodb.describe_continuous_backups(TableName=outputs["TableName"])
    recovery = backups["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert recovery["PointInTimeRecoveryStatus"] == "ENABLED"
    settings = clients.sqs.get_queue_attributes(QueueUrl=outputs["WorkQueueUrl"], AttributeNames=["All"])["Attributes"]
    assert (settings["FifoQueue"], settings["VisibilityTimeout"]) == ("true", "1800")
    assert clients.kms.get_key_rotation_status(KeyId=outputs["KeyArn"])["KeyRotationEnabled"]
    assert os.environ["KEY_ID"] == outputs["KeyArn"]


def test_the_callers_choices_reach_functions_that_declare_them(stack: Stack) -> None:
    assert os.environ["MODEL_ID"] == "m"


def test_a_second_stack_in_one_process_is_refused(stack: Stack) -> None:
    with pytest.raises(RuntimeError):
        Stack.start()


def test_message_attributes_are_handed_on(stack: Stack, sample: Sample) -> None:
    stack.clients.sqs.send_message(
        QueueUrl=stack.deployment.outputs["WorkQueueUrl"],
        MessageBody="a",
        MessageGroupId="g",
        MessageDeduplicationId="attributes",
        MessageAttributes={"kind": {"DataType": "String", "StringValue": "k"}},
    )
    assert stack.wait_until_idle()
    assert sample.batches[0]["Records"][0]["messageAttributes"] == {
        "kind": {"dataType": "String", "stringValue": "k", "stringListValues": [], "binaryListValues": []}
    }


def test_a_function_that_outlasts_the_visibility_of_its_message_gets_it_again(stack: Stack, sample: Sample) -> None:
    def report(event: dict[str, Any]) -> None:
        if event["Records"][0]["attributes"]["ApproximateReceiveCount"] == "1":
            stack.queue_clock.advance(1800)

    sample.report = report
    send(stack, "POST", "/v1/learn", {"group": "slow"})
    assert stack.wait_until_idle()
    assert (len(sample.batches), stack.pollers.waiting()) == (2, 0)
