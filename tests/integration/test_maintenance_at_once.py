"""Maintenance and fifty writes at once over the real adapters: nothing is lost, and nothing comes back."""

import threading
from concurrent.futures import ThreadPoolExecutor
from random import Random

from shared.keeping.memories.filters import Filters
from shared.learning.extractor import RulesExtractor
from shared.storage.transactions import Limits
from tests.builders import OWNER, Draft, Process
from tests.contract.aws import emulated
from tests.fakes import FakeClock, SeededRandom
from tests.unit.maintenance.writers import Writer

WRITERS, OPERATIONS, OLD, VISITS = 5, 10, 20, 4


def test_fifty_adds_edits_and_deletes_at_once_with_maintenance_lose_and_resurrect_nothing() -> None:
    with emulated() as aws:
        clock, random = FakeClock(), SeededRandom(3)

        def process() -> Process:
            ports = (aws.table, aws.objects, aws.keys)
            return Process(ports, (aws.queue, aws.queue), clock, random, Limits(100_000_000, 0), RulesExtractor())

        writers = [Writer(OWNER, process(), Random(number), f"writer{number}") for number in range(WRITERS)]
        for writer in writers:
            for number in range(OLD // WRITERS):
                text = f"{writer.name} knew thing {number} before"
                writer.kept[writer.process.memories.add(OWNER, Draft(text)).memory.id] = text
        clock.advance(7200)  # all of these lines are old and not folded: repair judges and folds them
        gate, writing = threading.Barrier(WRITERS + 1), [True]
        visits: list[dict[str, int] | None] = []

        def write(writer: Writer) -> None:
            gate.wait()
            for _ in range(OPERATIONS):
                writer.write()

        def maintain() -> None:
            maintaining = process()
            gate.wait()
            while writing[0] and len(visits) < VISITS:
                visits.append(maintaining.tidying.tidy(OWNER))

        with ThreadPoolExecutor(WRITERS + 1) as pool:
            maintenance = pool.submit(maintain)
            done = [pool.submit(write, writer) for writer in writers]
            for one in done:
                one.result()
            writing[0] = False
            maintenance.result()
        kept = sorted(text for writer in writers for text in writer.kept.values())
        assert sum(visit.get("fold_folded", 0) for visit in visits if visit) > 0
        for _ in range(2):
            page = process().listing.page(OWNER, Filters(status=None), 200, None)
            assert sorted(memory.content for memory in page.memories) == kept
            clock.advance(7200)
            assert process().tidying.tidy(OWNER) is not None
