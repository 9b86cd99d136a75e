"""The environment that log lines need: damaged memories and failed deliveries are told of."""

import pytest


@pytest.fixture(autouse=True)
def named_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAGE", "test")
    monkeypatch.setenv("LOG_LEVEL", "INFO")
