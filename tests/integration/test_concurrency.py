"""Many at once over the real adapters, on the strict local store: what DynamoDB, S3 and SQS decide decides here too."""

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from shared.domain.memory import Status
from shared.domain.task import TaskStatus
from shared.keeping.memories.filters import Filters
from shared.learning.extractor import RulesExtractor
from shared.storage.transactions import Limits
from tests.builders import OWNER, Draft, Process, conversation
from tests.contract.aws import Aws, emulated
from tests.fakes import FakeClock, SeededRandom
from tests.unit.storage.stress import Stress, WallClock

SAID = ("We decided to use PostgreSQL for the backend.", "我喜欢用 TypeScript", "My wifi password is swordfish1.")


class Account:
    """Processes over one emulated account."""

    def __init__(self, aws: Aws, clock: FakeClock) -> None:
        self.aws, self.clock, self.random = aws, clock, SeededRandom(3)

    def process(self) -> Process:
        ports = (self.aws.table, self.aws.objects, self.aws.keys)
        queues = (self.aws.queue, self.aws.queue)
        return Process(ports, queues, self.clock, self.random, Limits(100_000_000, 0), RulesExtractor())

    def at_once(self, count: int, deed: Callable[[Process, int], Any]) -> list[Any]:
        """Let that many processes do it at once; return results or errors."""
        gate = threading.Barrier(count)

        def one(number: int) -> Any:
            process = self.process()
            gate.wait()
            try:
                return deed(process, number)
            except Exception as error:  # noqa: BLE001 - the test judges it
                return error

        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(one, range(count)))

    def texts(self) -> list[str]:
        page = self.process().listing.page(OWNER, Filters(status=Status.ACTIVE), 200, None)
        return sorted(memory.content for memory in page.memories)


@pytest.fixture
def account() -> Iterator[Account]:
    with emulated() as aws:
        yield Account(aws, FakeClock())


def test_twenty_writers_of_one_new_owner_lose_nothing(account: Account) -> None:
    texts = [f"Fact number {number} of the day." for number in range(20)]
    answers = account.at_once(20, lambda process, n: process.memories.add(OWNER, Draft(texts[n])))
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    assert account.texts() == sorted(texts)
    opened = account.process().vaults.open(OWNER)
    assert opened is not None
    assert (opened.head["memories"], opened.head["active"]) == (20, 20)


def test_the_same_message_twice_at_once_is_learned_once(account: Account) -> None:
    process = account.process()
    task_id = process.accepting.accept(OWNER, conversation(*SAID, project="atlas")).task_id
    assert task_id is not None
    body = json.dumps({"v": 1, "owner": OWNER, "epoch": 1, "task": task_id, "run": 1})
    account.at_once(2, lambda each, _: each.extraction.learn(OWNER, 1, task_id, 1))
    process.delivery.learn(body, "receipt", 2)
    task = process.tasks.get(OWNER, task_id)
    assert (task.status, task.learned["inserted"]) == (TaskStatus.DONE, 3)
    assert len(account.texts()) == 3


def test_writers_builders_and_searchers_at_once_agree() -> None:
    with emulated() as aws:
        account = Account(aws, WallClock())
        stress = Stress(OWNER, account.process, lambda done: done < 15)
        stress.run()
    assert stress.wrong == []
    assert stress.done["writes"] == 6 * 15
    assert stress.done["builds"] >= 1
