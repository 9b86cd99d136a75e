"""The whole service in this process: resources in moto, HTTP gateway, tokens, pollers, timer."""

import json
import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import boto3
from moto import mock_aws
from moto.server import ThreadedMotoServer

from local import calls, embeddings, emulation, powertools, timers
from local.calls import CallLog
from local.clients import Clients
from local.emulation import sqs
from local.gateway import Gateway
from local.invocation import FunctionFailed, Functions, FunctionTimedOut, Handler
from local.pollers import Pollers, queue_of
from local.resources import REGION, Deployment, Schedule, deploy
from local.server import BadRequest, Server
from local.tokens import Issuer

TEMPLATE = Path(__file__).resolve().parent.parent / "template.yaml"
FROM_CALLER = ("MODEL_PROVIDER", "MODEL_ID", "MODEL_URL", "MODEL_API_KEY", "CONTEXT_MILLISECONDS", "LOG_LEVEL")
_NOT_HERE = (
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_SESSION_TOKEN",
    "AWS_ENDPOINT_URL",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
)
_SILENT = {
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}
_one_per_process = threading.Lock()
EVERYONE = {"kind": "rebuild"}
"""What an operator sends the maintenance function: everybody's maintenance, and the rebuild of tables that are lost."""


class QueueClock:
    """Unix seconds for queues and transaction tokens; `advance` lets a test outlive a visibility time at once."""

    def __init__(self, base: Callable[[], float]) -> None:
        self._base = base
        self._ahead = 0.0

    def __call__(self) -> float:
        """Now."""
        return self._base() + self._ahead

    def advance(self, seconds: float) -> None:
        """Move on and let every queue reader look again."""
        self._ahead += seconds
        sqs.wake()


def _swapped_environment(values: Mapping[str, str]) -> Callable[[], None]:
    """Put values into `os.environ`, take out what would lead to a real account, and return what undoes it."""
    before = dict(os.environ)
    for name in [*_NOT_HERE, *(one for one in os.environ if one.startswith("AWS_ENDPOINT_URL"))]:
        os.environ.pop(name, None)
    os.environ.update({**_SILENT, "AWS_REGION": REGION, "AWS_DEFAULT_REGION": REGION, **values})

    def undo() -> None:
        os.environ.clear()
        os.environ.update(before)

    return undo


def _new_id() -> str:
    return str(uuid.uuid4())


class Stack:
    """One running stack; use `Stack.start(...)` as a context manager. A process holds one at a time."""

    def __init__(self) -> None:
        self._exit = ExitStack()
        self._stopping = threading.Event()
        self.calls = CallLog()
        self.queue_clock: QueueClock
        self.deployment: Deployment
        self.functions: Functions
        self.issuer: Issuer
        self.clients: Clients
        self.gateway: Gateway
        self.pollers: Pollers
        self.url = ""
        self.aws_endpoint: str | None = None

    @classmethod
    def start(
        cls,
        *,
        port: int = 0,
        aws_port: int | None = None,
        schedule: bool = True,
        environment: Mapping[str, str] | None = None,
        parameters: Mapping[str, str] | None = None,
        template: Path = TEMPLATE,
        handlers: Mapping[str, Handler] | None = None,
        clock: Callable[[], float] = time.time,
        new_id: Callable[[], str] = _new_id,
    ) -> Self:
        """Start everything and return when requests are answered.

        Port 0 takes any free port; `aws_port` None opens no endpoint for other AWS tools. `environment` overrides
        variables that functions declare, `parameters` those of the template, `handlers` the code behind a handler's
        path. Without `schedule` no timer runs. `clock` gives Unix seconds to gateway, tokens and queues.
        Raises OSError when a port is taken, TemplateError for what cannot be stood in for, RuntimeError for a second stack.
        """
        if not _one_per_process.acquire(blocking=False):
            raise RuntimeError("a local stack runs in this process already")
        stack = cls()
        stack._exit.callback(_one_per_process.release)
        try:
            stack._emulate(clock)
            stack._deploy(template, parameters or {}, environment or {}, handlers or {})
            stack._serve(port, clock, new_id)
            if aws_port is not None:
                stack._open_endpoint(aws_port)
            if schedule:
                timers.start(stack.deployment.schedules, stack._run_schedule, stack._stopping.wait)
        except BaseException:
            stack.stop()
            raise
        return stack

    def _emulate(self, clock: Callable[[], float]) -> None:
        self._exit.callback(_swapped_environment({}))
        self.queue_clock = QueueClock(clock)
        patches = emulation.install(self.queue_clock)
        self._exit.callback(patches.undo)
        calls.install(patches, self.calls)
        powertools.install(patches)
        mock = mock_aws(config={"lambda": {"use_docker": False}, "core": {"reset_boto3_session": True}})
        mock.start()
        self._exit.callback(mock.stop)

    def _deploy(
        self,
        template: Path,
        parameters: Mapping[str, str],
        environment: Mapping[str, str],
        handlers: Mapping[str, Handler],
    ) -> None:
        self.deployment = deploy(template, parameters)
        given = {"LOG_LEVEL": "WARNING", **{name: os.environ[name] for name in FROM_CALLER if name in os.environ}}
        given |= embeddings.chosen(os.environ)
        os.environ.update(self.deployment.environment({**given, **environment}))
        self.functions = Functions(self.deployment.functions, handlers)
        self.functions.reload()
        self._exit.callback(self.functions.reload)
        self.clients = Clients(boto3.session.Session(region_name=REGION))

    def _serve(self, port: int, clock: Callable[[], float], new_id: Callable[[], str]) -> None:
        authorizer = next(route.authorizer for route in self.deployment.routes if route.authorizer is not None)
        self.issuer = Issuer(authorizer, clock)
        self.gateway = Gateway(self.deployment, self.functions, self.issuer.public_keys, clock, new_id)
        self._new_id = new_id
        self.pollers = Pollers(self.deployment.sources, self.functions, self.clients.sqs, self.queue_clock, new_id)
        self.pollers.start()
        self._exit.callback(self.pollers.stop)
        own = {
            ("GET", "/local/health"): lambda _: {"status": "ok"},
            ("POST", "/local/token"): self._token_route,
            ("POST", "/local/maintenance"): lambda _: self.run_maintenance(),
        }
        server = Server(port, self.gateway.answer, own)
        server.start()
        self._exit.callback(server.stop)
        self.url = server.url

    def _open_endpoint(self, port: int) -> None:
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        with socket.create_server(("127.0.0.1", port)):
            pass  # a taken port is an error here; moto's thread would end and leave us waiting for it
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
        server.start()
        self._exit.callback(server.stop)
        host, bound = server.get_host_and_port()
        self.aws_endpoint = f"http://{host}:{bound}"

    def _run_schedule(self, schedule: Schedule, event: Mapping[str, Any] | None = None) -> None:
        try:
            self.functions.invoke(schedule.function, event or schedule.event, self._new_id())
        except (FunctionFailed, FunctionTimedOut):
            return  # the runner has logged it; the next tick tries again

    def _token_route(self, body: bytes) -> dict[str, str]:
        try:
            asked = json.loads(body)
        except ValueError:
            raise BadRequest("the body is not JSON") from None
        if not isinstance(asked, dict) or not isinstance(asked.get("user"), str):
            raise BadRequest('say {"user": "...", "groups": ["..."], "sub": "..."}; groups and sub are optional')
        groups, sub = asked.get("groups") or [], asked.get("sub")
        if not isinstance(groups, list) or not all(isinstance(one, str) for one in groups):
            raise BadRequest("groups must be a list of strings")
        if sub is not None and not isinstance(sub, str):
            raise BadRequest("sub must be a string")
        return {"token": self.issuer.token(asked["user"], groups, sub=sub)}

    def token(self, user: str, groups: Sequence[str] = (), *, sub: str | None = None, lifetime: int = 86_400) -> str:
        """A token for a user; `sub` is what tells owners apart and is the user's name unless given."""
        return self.issuer.token(user, groups, sub=sub, lifetime=lifetime)

    def run_maintenance(self, owner: str | None = None, timeout: float = 120.0) -> dict[str, Any]:
        """Tidy everyone, or that owner, now, due or not (a lost table is rebuilt), and wait until the queues are idle.

        Returns how often each function ran meanwhile, how many messages lie in dead-letter queues, how many wait out
        their visibility after a failure, and whether the queues became idle within `timeout` seconds.
        """
        before = self.functions.invocations.copy()
        for schedule in self.deployment.schedules:
            self._run_schedule(schedule, EVERYONE if owner is None else {**EVERYONE, "owner": owner})
        idle = self.wait_until_idle(timeout)
        ran = self.functions.invocations - before
        names = {name: function.handler.split(".")[-3] for name, function in self.deployment.functions.items()}
        return {
            "functions": {names[name]: count for name, count in sorted(ran.items())},
            "dead_letters": self.dead_letters(),
            "waiting": self.pollers.waiting(),
            "idle": idle,
        }

    def wait_until_idle(self, timeout: float = 60.0) -> bool:
        """Block until the queues have nothing to deliver and no function works on a message."""
        return self.pollers.wait_until_idle(timeout)

    def dead_letters(self) -> int:
        """Messages in all dead-letter queues."""
        return sum(sum(sqs.counts(queue_of(url), self.queue_clock)) for url in self.deployment.dead_letters)

    def stop(self) -> None:
        """Stop everything, forget all data, put the process back as it was."""
        self._stopping.set()
        self._exit.close()

    def __enter__(self) -> Self:
        """The stack itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.stop()
