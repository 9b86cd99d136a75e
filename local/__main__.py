"""`python -m local`: start the stack, say where it is, stop on SIGTERM or Ctrl-C."""

import argparse
import contextlib
import json
import logging
import os
import signal
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType

from local.samcli import write_environment
from local.stack import Stack

DEFAULT_PORT = 8787


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m local", description=__doc__)
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="the API's and page's port; 0: any free one")
    parser.add_argument("--aws-port", type=int, default=0, help="the emulated AWS endpoint's port; 0: any free one")
    parser.add_argument("--ready-file", type=Path, help="written once requests are answered: url, aws_endpoint, token")
    parser.add_argument("--user", default="ann", help="whose token is printed")
    parser.add_argument("--no-schedule", action="store_true", help="maintenance runs only when asked")
    parser.add_argument("--sam-env", type=Path, help="write an --env-vars file for `sam local invoke` here")
    return parser.parse_args(arguments)


def _write_whole(path: Path, text: str) -> None:
    """Readers see all of the file or none of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as draft:
        draft.write(text)
    Path(draft.name).replace(path)


def _say(stack: Stack, token: str) -> None:
    maintenance = f"curl -X POST {stack.url}/local/maintenance"
    lines = [
        "",
        "Nacre runs on this machine only. Nothing is kept when it stops.",
        "",
        f"  page          {stack.url}/",
        f"  API           {stack.url}/v1/",
        f"  AWS endpoint  {stack.aws_endpoint}",
        f"  maintenance   {maintenance}",
        f"  token         {token}",
        "",
        "Stop with Ctrl-C.",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def main(arguments: list[str] | None = None) -> int:
    """Run until a signal asks to stop; returns the exit status."""
    options = _options(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    stop = threading.Event()

    def ask_to_stop(_: int, __: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ask_to_stop)
    try:
        started = Stack.start(port=options.port, aws_port=options.aws_port, schedule=not options.no_schedule)
    except OSError as problem:
        sys.stderr.write(
            f"Cannot listen on 127.0.0.1 ({problem.strerror}). Choose other ports with --port and --aws-port.\n"
        )
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
