"""`python -m local`: start the stack, say where it is, stop on SIGTERM or Ctrl-C."""

import argparse
import contextlib
import json
import logging
import os
import signal
import socket
import sys
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from local import embeddings, model

if TYPE_CHECKING:
    from local.stack import Stack

DEFAULT_PORT = 8787
_OPTIONS = {"port": "--port (make local PORT=8788)", "aws_port": "--aws-port (make local AWS_PORT=0)"}


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 65_535:
        raise argparse.ArgumentTypeError("a port is 0 to 65535")
    return number


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m local", description=__doc__)
    parser.add_argument("--port", type=_port, default=DEFAULT_PORT, help="the API's port; 0: any free one")
    parser.add_argument("--aws-port", type=_port, default=0, help="the emulated AWS endpoint's port; 0: any free one")
    parser.add_argument("--ready-file", type=Path, help="written once requests are answered: url, aws_endpoint, token")
    parser.add_argument("--user", default="ann", help="whose token is printed")
    parser.add_argument("--no-schedule", action="store_true", help="maintenance runs only when asked")
    parser.add_argument("--sam-env", type=Path, help="write an --env-vars file for `sam local invoke` here")
    return parser.parse_args(arguments)


def _taken(options: argparse.Namespace) -> str | None:
    """Return one line about the first port that cannot be listened on; both are held while looking, so they must differ."""
    with ExitStack() as held:
        for name, option in _OPTIONS.items():
            port = getattr(options, name)
            try:
                held.enter_context(socket.create_server(("127.0.0.1", port)))
            except OSError as problem:
                reason = os.strerror(problem.errno) if problem.errno else "not possible"
                return f"Cannot listen on 127.0.0.1:{port} ({reason}). Choose another port with {option}."
    return None


def _write_whole(path: Path, text: str) -> None:
    """Readers see all of the file or none of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as draft:
        draft.write(text)
    Path(draft.name).replace(path)


def _print(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def _say(stack: "Stack", token: str) -> None:
    _print(
        "",
        "Nacre runs on this machine only. Nothing is kept when it stops.",
        "",
        f"  API           {stack.url}/v1/",
        f"  learning      {model.described(os.environ)}",
        f"  search by     {embeddings.described(os.environ)}",
        f"  AWS endpoint  {stack.aws_endpoint}",
        f"  maintenance   curl -X POST {stack.url}/local/maintenance",
        f"  token         {token}",
        "",
        "Stop with Ctrl-C.",
    )


def main(arguments: list[str] | None = None) -> int:
    """Run until a signal asks to stop; returns the exit status: 1 for a port that is taken, 2 for what was asked wrongly."""
    options = _options(arguments)
    wrong = model.problem(os.environ) or embeddings.problem(os.environ)
    for status, refusal in ((2, wrong), (1, _taken(options))):
        if refusal:
            sys.stderr.write(refusal + "\n")
            return status
    _print("Starting ...")
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    stop = threading.Event()

    def ask_to_stop(_: int, __: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ask_to_stop)
    return _serve(options, stop)


def _serve(options: argparse.Namespace, stop: threading.Event) -> int:
    # Imported last: it takes seconds, and what can be refused is refused at once.
    from local.samcli import write_environment  # noqa: PLC0415
    from local.stack import Stack  # noqa: PLC0415

    try:
        started = Stack.start(port=options.port, aws_port=options.aws_port, schedule=not options.no_schedule)
    except OSError as problem:
        sys.stderr.write(f"Cannot listen on 127.0.0.1 ({problem.strerror}): a port was taken meanwhile. Try again.\n")
        return 1
    with started as stack:
        token = stack.token(options.user)
        if options.sam_env is not None:
            write_environment(options.sam_env, stack)
        if options.ready_file is not None:
            ready = {"url": stack.url, "aws_endpoint": stack.aws_endpoint, "token": token}
            _write_whole(options.ready_file, json.dumps(ready))
        _say(stack, token)
        stop.wait()
    return 0


if __name__ == "__main__":
    status = main()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    # Daemon threads of functions that outlived their time must not keep the process or print while it ends.
    os._exit(status)
