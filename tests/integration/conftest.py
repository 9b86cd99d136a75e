"""The service for the tests of this folder."""

from collections.abc import Iterator

import pytest

from tests.integration.service import Service, started


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    with started(monkeypatch) as running:
        yield running


@pytest.fixture
def service_of_two(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A service that keeps two active memories per owner."""
    with started(monkeypatch, ACTIVE_LIMIT="2") as running:
        yield running
