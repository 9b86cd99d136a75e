"""`python -m local` as a command, its timers, and how it reads the template."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from local import timers
from local.resources import Deployment, Function, Schedule
from local.stack import Stack
from local.template import Intrinsics, TemplateError
from local.timers import keep_running

ROOT = Path(__file__).parents[2]


def test_values_that_differ_among_functions_are_refused() -> None:
    functions = {name: Function(name, "h", 1, 1, {"NAME": name}) for name in ("a", "b")}
    with pytest.raises(TemplateError, match="NAME"):
        Deployment(functions, (), None, (), (), ()).environment({})  # type: ignore[arg-type]


def test_a_start_that_fails_leaves_the_process_as_it_was(tmp_path: Path) -> None:
    before = dict(os.environ)
    template = tmp_path / "template.yaml"
    template.write_text((ROOT / "template.yaml").read_text().replace("!Ref MaintenanceQueue\n", "!ImportValue x\n", 1))
    for _ in range(2):
        with pytest.raises(TemplateError, match="Fn::ImportValue"):
            Stack.start(template=template)
    assert dict(os.environ) == before


def test_what_would_lead_to_a_real_account_is_taken_out_while_a_stack_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", "https://elsewhere.example")
    monkeypatch.setenv("MODEL_ID", "mine")
    with Stack.start(schedule=False) as stack:
        assert not {"AWS_PROFILE", "AWS_ENDPOINT_URL_DYNAMODB"} & set(os.environ)
        assert (os.environ["MODEL_ID"], os.environ["TABLE_NAME"]) == ("mine", stack.deployment.outputs["TableName"])
    assert os.environ["AWS_PROFILE"] == "production"
    assert "TABLE_NAME" not in os.environ


def test_a_timer_runs_its_schedule_after_each_period_until_it_is_stopped() -> None:
    ran: list[Schedule] = []
    waits: list[float] = []

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        return len(waits) == 3

    schedule = Schedule("function", 300, {})
    keep_running(schedule, ran.append, wait)
    keep_running(Schedule("function", None, {}), ran.append, wait)
    assert (ran, waits) == ([schedule, schedule], [300, 300, 300])


def test_each_schedule_has_a_thread_of_its_own() -> None:
    both = threading.Barrier(3)

    def wait(_: float) -> bool:
        both.wait(10)
        return True

    timers.start([Schedule("a", 60, {}), Schedule("b", 60, {})], lambda _schedule: None, wait)
    both.wait(10)


def test_intrinsics_are_filled_in_as_cloudformation_does() -> None:
    template = {
        "Parameters": {
            "Name": {"Type": "String", "Default": "n"},
            "List": {"Type": "CommaDelimitedList", "Default": "a, b"},
        },
        "Conditions": {"Named": {"Fn::Not": [{"Fn::Equals": [{"Ref": "Name"}, ""]}]}},
    }
    ours = Intrinsics(template, {}, {"AWS::Region": "r"}, lambda name, attribute: f"{name}/{attribute}")
    value = {
        "sub": {"Fn::Sub": "${Name}-${AWS::Region}-${Table.Arn}-${!kept}"},
        "if": {"Fn::If": ["Named", {"Ref": "Thing"}, {"Ref": "AWS::NoValue"}]},
        "none": {"Ref": "AWS::NoValue"},
        "join": {"Fn::Join": ["+", {"Ref": "List"}]},
        "split": {"Fn::Select": [1, {"Fn::Split": [":", "a:b"]}]},
        "parts": {"Fn::Sub": ["${A}", {"A": {"Fn::GetAtt": ["Key", "Arn"]}}]},
    }
    assert ours.resolve(value) == {
        "sub": "n-r-Table/Arn-${kept}",
        "if": "Thing/None",
        "join": "a+b",
        "split": "b",
        "parts": "Key/Arn",
    }
    with pytest.raises(TemplateError, match="Fn::ImportValue"):
        ours.resolve({"Fn::ImportValue": "x"})
    with pytest.raises(TemplateError, match="Nothing"):
        Intrinsics(template, {"Nothing": ""}, {}, lambda _name, _attribute: None)


@pytest.mark.parametrize("option", ["--port", "--aws-port"])
def test_a_taken_port_is_said_in_one_line(option: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ports = {"--port": "0", "--aws-port": "0", option: str(taken.getsockname()[1])}
        command = [sys.executable, "-m", "local", *(part for pair in ports.items() for part in pair)]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("Cannot listen on 127.0.0.1")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_the_command_serves_says_where_and_ends_quietly(tmp_path: Path, ending: signal.Signals) -> None:
    ready, variables = tmp_path / "ready.json", tmp_path / "env.json"
    command = [sys.executable, "-m", "local", "--port", "0", "--ready-file", str(ready), "--sam-env", str(variables)]
    process = subprocess.Popen(  # noqa: S603
        [*command, "--no-schedule"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for line in process.stdout:
        if "Stop with" in line:
            break
    said = json.loads(ready.read_text())
    connection = http.client.HTTPConnection(urlsplit(said["url"]).netloc, timeout=30)
    connection.request("GET", "/local/health")
    assert connection.getresponse().status == 200
    connection.close()
    process.send_signal(ending)
    _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (0, "")
    assert said.keys() == {"url", "aws_endpoint", "token"}
    environment = json.loads(variables.read_text())["MemoriesFunction"]
    assert environment["AWS_ENDPOINT_URL"] == said["aws_endpoint"]
    assert environment["WORK_QUEUE_URL"].startswith(environment["AWS_ENDPOINT_URL"])
