"""docs/api.md gives every error code with its status."""

from collections.abc import Iterator
from pathlib import Path

from shared.domain.errors import InternalError, NacreError

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text()


def test_every_error_stands_with_its_status() -> None:
    for error in errors(NacreError):
        lines = [line for line in PAGE.splitlines() if f"`{error.code}`" in line and line.startswith("| ")]
        assert any(line.startswith(f"| {error.status} |") for line in lines), error.code


def errors(kind: type[NacreError]) -> Iterator[type[NacreError]]:
    yield InternalError if kind is NacreError else kind
    for below in kind.__subclasses__():
        if below.__module__ == NacreError.__module__:  # others, such as those of models, never answer a request
            yield from errors(below)
