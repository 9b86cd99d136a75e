"""One stack for all tests of a module; every test brings its own people."""

from collections.abc import Iterator

import pytest

from local.stack import Stack
from tests.e2e.client import Person


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with Stack.start(schedule=False) as running:
        yield running


@pytest.fixture
def ann(stack: Stack) -> Person:
    return Person(stack)


@pytest.fixture
def bob(stack: Stack) -> Person:
    return Person(stack, "bob")
