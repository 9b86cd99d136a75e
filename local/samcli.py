"""The environment file for `sam local invoke --env-vars`: a function in Docker then works on this stack's resources."""

import json
from pathlib import Path
from urllib.parse import urlsplit

from local.stack import Stack

_FROM_DOCKER = "host.docker.internal"


def _as_seen_from_docker(url: str, endpoint: str) -> str:
    """A queue's URL, or any other value, with the emulated endpoint for AWS's host."""
    parts = urlsplit(url)
    return f"{endpoint}{parts.path}" if (parts.hostname or "").endswith("amazonaws.com") else url


def write_environment(path: Path, stack: Stack) -> None:
    """Write variables for every function of the template, by logical id; the stack must have an AWS endpoint."""
    port = urlsplit(stack.aws_endpoint or "").port
    endpoint = f"http://{_FROM_DOCKER}:{port}"
    every = {}
    for name, function in stack.deployment.functions.items():
        values = {key: _as_seen_from_docker(value, endpoint) for key, value in function.environment.items()}
        every[name.split("-")[1]] = {
            **values,
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",
        }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(every, indent=2, sort_keys=True) + "\n", encoding="utf-8")
