"""docs/api.md mentions every route, setting and error code."""

from collections.abc import Iterator
from pathlib import Path

from functions.memories import app as memories
from functions.recall import app as recall
from shared.domain.errors import InternalError, NacreError
from shared.http import routes_of
from shared.models.owners import SettingsPatch

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text()


def test_every_route_is_on_the_page() -> None:
    for app in (memories.app, recall.app):
        for route in routes_of(app):
            assert route.openapi_path in PAGE, route.openapi_path


def test_every_setting_is_on_the_page() -> None:
    for name in SettingsPatch.model_fields:
        assert f"`{name}`" in PAGE, name


def test_every_error_is_on_the_page_with_its_status() -> None:
    for error in errors(NacreError):
        lines = [line for line in PAGE.splitlines() if f"`{error.code}`" in line and line.startswith("| ")]
        assert any(line.startswith(f"| {error.status} |") for line in lines), error.code


def errors(kind: type[NacreError]) -> Iterator[type[NacreError]]:
    yield InternalError if kind is NacreError else kind
    for below in kind.__subclasses__():
        yield from errors(below)
