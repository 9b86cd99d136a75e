"""The environment file for `sam local invoke --env-vars`: a function in Docker then works on this stack's resources."""

import json
from pathlib import Path
from urllib.parse import urlsplit

from local.stack import Stack


def _at_endpoint(value: str, endpoint: str) -> str:
    """A queue's URL with the emulated endpoint for AWS's host; any other value as it is."""
    parts = urlsplit(value)
    return f"{endpoint}{parts.path}" if (parts.hostname or "").endswith("amazonaws.com") else value


def write_environment(path: Path, stack: Stack) -> None:
    """Write variables for every function of the template, by logical id.

    The endpoint listens on 127.0.0.1 only, so containers need the host's network (`--docker-network host`).
    Raises ValueError when the stack has no AWS endpoint.
    """
    if stack.aws_endpoint is None:
        raise ValueError("the stack has no AWS endpoint")
    credentials = {
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_ENDPOINT_URL": stack.aws_endpoint,
    }
    every = {
        name.split("-")[1]: {
            **{key: _at_endpoint(value, stack.aws_endpoint) for key, value in function.environment.items()},
            **credentials,
        }
        for name, function in stack.deployment.functions.items()
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(every, indent=2, sort_keys=True) + "\n", encoding="utf-8")
