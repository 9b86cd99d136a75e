"""The service for the tests of this folder."""

from collections.abc import Iterator

import pytest

from tests.integration.service import Service, started


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    with started(monkeypatch) as running:
        yield running
