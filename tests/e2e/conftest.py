"""One stack for all tests of a module; every test brings its own people."""

from collections.abc import Iterator

import pytest

from local.stack import Stack
from tests.e2e.client import Person
from tests.scripted_model import ScriptedModel


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with Stack.start(schedule=False) as running:
        yield running


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    """A model that is asked for nothing but what a test scripts, for modules whose stack asks it."""
    with ScriptedModel() as server:
        yield server
        assert server.unscripted == 0


@pytest.fixture
def ann(stack: Stack) -> Person:
    return Person(stack)


@pytest.fixture
def bob(stack: Stack) -> Person:
    return Person(stack, "bob")
