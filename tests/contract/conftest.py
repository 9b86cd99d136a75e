"""Each port twice: the fake, and the real adapter over an emulated AWS."""

from collections.abc import Iterator

import pytest

from shared.ports import KeyService, Objects, Table
from tests.contract.aws import Aws, emulated
from tests.fakes import MemoryKeys, MemoryObjects, MemoryTable, SeededRandom


@pytest.fixture
def aws() -> Iterator[Aws]:
    with emulated() as account:
        yield account


@pytest.fixture(params=["fake", "real"])
def table(request: pytest.FixtureRequest) -> Table:
    if request.param == "fake":
        return MemoryTable()
    account: Aws = request.getfixturevalue("aws")
    return account.table


@pytest.fixture(params=["fake", "real"])
def objects(request: pytest.FixtureRequest) -> Objects:
    if request.param == "fake":
        return MemoryObjects()
    account: Aws = request.getfixturevalue("aws")
    return account.objects


@pytest.fixture(params=["fake", "real"])
def keys(request: pytest.FixtureRequest) -> KeyService:
    if request.param == "fake":
        return MemoryKeys(SeededRandom(3))
    account: Aws = request.getfixturevalue("aws")
    return account.keys
