"""`python -m local` as a command, its timers, and how it reads the template."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from local import model, timers
from local.__main__ import DEFAULT_PORT, main
from local.resources import Deployment, Function, Schedule
from local.stack import Stack
from local.template import Intrinsics, TemplateError
from local.timers import keep_running
from shared import config
from shared.bootstrap import models
from shared.config import MissingSetting

ROOT = Path(__file__).parents[2]
MAKE = shutil.which("make") or "make"


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
    assert ended.stderr == (
        f"Cannot listen on 127.0.0.1:{ports[option]} (Address already in use). "
        f"Choose another port with {option} (make local {'PORT=8788' if option == '--port' else 'AWS_PORT=0'}).\n"
    )


def test_what_can_be_refused_is_refused_before_the_imports_that_take_seconds() -> None:
    looked = "import sys, local.__main__; print(sorted({'boto3', 'moto', 'samtranslator'} & set(sys.modules)))"
    ended = subprocess.run([sys.executable, "-c", looked], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603
    assert ended.stdout == "[]\n"


def test_one_port_for_both_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    assert main(["--port", port, "--aws-port", port]) == 1
    assert f"127.0.0.1:{port} " in capsys.readouterr().err


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_a_port_that_is_none_is_refused(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--port", port])
    assert (ended.value.code, "--port" in capsys.readouterr().err) == (2, True)


OPENAI = {"MODEL_PROVIDER": "openai", "MODEL_ID": "m", "MODEL_URL": "https://127.0.0.1/v1"}
HALF_NAMED = [
    ({"MODEL_ID": "m"}, "MODEL_PROVIDER"),
    ({"MODEL_URL": "https://127.0.0.1"}, "MODEL_PROVIDER"),
    ({**OPENAI, "MODEL_PROVIDER": "OpenAI"}, "MODEL_PROVIDER"),
    ({**OPENAI, "MODEL_ID": ""}, "MODEL_ID"),
    ({**OPENAI, "MODEL_URL": ""}, "MODEL_URL"),
    ({**OPENAI, "MODEL_URL": "http://192.0.2.1/v1"}, "MODEL_URL"),
    ({**OPENAI, "MODEL_URL": "http://[CANARY"}, "MODEL_URL"),
    ({**OPENAI, "MODEL_URL": "https://user:CANARY@127.0.0.1"}, "MODEL_URL"),
    ({**OPENAI, "MODEL_URL": "127.0.0.1:11434/v1"}, "MODEL_URL"),
    ({**OPENAI, "MODEL_PROVIDER": "bedrock", "MODEL_URL": ""}, "MODEL_URL"),
]


@pytest.mark.parametrize(("given", "named"), HALF_NAMED)
def test_a_half_named_model_does_not_start(
    given: dict[str, str], named: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("MODEL_PROVIDER", "MODEL_ID", "MODEL_URL"):
        monkeypatch.setenv(name, given.get(name, ""))
    assert main(["--port", "0"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n"), named in err, "CANARY" in err) == ("", 1, True, False)


@pytest.mark.parametrize(
    ("given", "learning"),
    [
        ({}, "rules (offline)"),
        ({"MODEL_PROVIDER": "rules", "MODEL_ID": "m"}, "rules (offline)"),
        (OPENAI, "openai · m at https://127.0.0.1/v1"),
        ({**OPENAI, "MODEL_URL": "http://localhost:1/v1"}, "openai · m at http://localhost:1/v1"),
        ({**OPENAI, "MODEL_PROVIDER": "bedrock"}, "bedrock · m at https://127.0.0.1/v1"),
    ],
)
def test_a_whole_model_starts_and_is_told_in_a_few_words(given: dict[str, str], learning: str) -> None:
    assert (model.problem(given), model.described(given)) == (None, learning)


@pytest.mark.parametrize("provider", ["", "rules", "openai", "bedrock", "x"])
@pytest.mark.parametrize("model_id", ["", "m"])
@pytest.mark.parametrize("url", ["", "http://127.0.0.1"])
def test_what_starts_is_what_the_function_takes(
    provider: str, model_id: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "model", config.model.__wrapped__)
    given = {"MODEL_PROVIDER": provider, "MODEL_ID": model_id, "MODEL_URL": url}
    for name, value in {"MODEL_API_KEY": "", "MODEL_SECRET_ARN": "", **given}.items():
        monkeypatch.setenv(name, value)
    refusal = model.problem(given)
    if refusal is None:
        assert (models.language_model.__wrapped__() is None) == (provider in {"", "rules"})
    elif provider and (provider, url) != ("bedrock", ""):
        with pytest.raises(MissingSetting):
            models.language_model.__wrapped__()


def make(*words: str) -> str:
    """What make would do, or says; the caller's own choices do not count."""
    environment = {name: value for name, value in os.environ.items() if name not in {"PORT", "AWS_PORT", "MAKEFLAGS"}}
    ran = subprocess.run([MAKE, *words], cwd=ROOT, capture_output=True, text=True, check=True, env=environment)  # noqa: S603
    return ran.stdout


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_make_hands_on_ports_names_its_choices_and_says_how_long_installing_takes(tmp_path: Path) -> None:
    assert f"--port {DEFAULT_PORT} --aws-port 0 " in make("-n", "local")
    assert "--port 9001 --aws-port 9002 " in make("-n", "local", "PORT=9001", "AWS_PORT=9002")
    (described,) = [line for line in make("help").splitlines() if line.startswith("test ")]
    assert re.findall(r"[A-Z]+=", described) == ["TESTS=", "JOBS="]
    said, _, installed = make("-n", "install", f"VENV={tmp_path}/venv").partition("a minute or two, once")
    assert ("pip install" in said, "pip install" in installed) == (False, True)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_the_command_serves_says_where_and_ends_quietly(tmp_path: Path, ending: signal.Signals) -> None:
    ready, variables = tmp_path / "ready.json", tmp_path / "env.json"
    command = [sys.executable, "-m", "local", "--port", "0", "--ready-file", str(ready), "--sam-env", str(variables)]
    process = subprocess.Popen(  # noqa: S603
        [*command, "--no-schedule"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    banner = []
    for line in process.stdout:
        banner.append(line)
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
    assert banner[0] == "Starting ...\n"
    assert [line.split(maxsplit=1)[1] for line in banner if line.startswith("  learning")] == ["rules (offline)\n"]
    assert "page" not in "".join(banner)
    assert said.keys() == {"url", "aws_endpoint", "token"}
    environment = json.loads(variables.read_text())["MemoriesFunction"]
    assert environment["AWS_ENDPOINT_URL"] == said["aws_endpoint"]
    assert environment["WORK_QUEUE_URL"].startswith(environment["AWS_ENDPOINT_URL"])
