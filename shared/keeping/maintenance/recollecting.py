"""The step of maintenance that finds again what it was to do, where its own memory of an owner was lost: the tasks say it."""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from shared.domain.errors import Refused
from shared.domain.task import TaskStatus
from shared.keeping import portrait
from shared.keeping.forgetting import asking
from shared.keeping.maintenance.visits import Visit
from shared.learning import tasks
from shared.learning.consolidation.consolidating import OPEN
from shared.ports import Condition, Update, Value
from shared.storage import names
from shared.storage.partition import each_item

_WAITING = frozenset((TaskStatus.QUEUED.value, TaskStatus.PROCESSING.value))


@dataclass(frozen=True, slots=True)
class Recollecting:
    """Notes the tasks that wait for maintenance, once: where there is no memory of the owner yet, or none any more."""

    name: str = "recollection"

    def run(self, visit: Visit) -> Mapping[str, int]:
        if names.UPKEEP in visit.opened.items:
            return {}
        every = each_item(visit.vaults.table, visit.owner, names.TASK)
        waiting = [item for item in every if item["status"] in _WAITING or asking.AWAITED in item]
        found: dict[str, Value] = {}
        if forgets := Counter(str(item["kind"]) for item in waiting)[asking.KIND]:
            found[asking.WAITING] = forgets
        for item in waiting:
            pointer = {tasks.CONSOLIDATION: OPEN, portrait.KIND: portrait.WAITING}.get(str(item["kind"]))
            if pointer:
                found[pointer] = str(item["sk"]).removeprefix(names.TASK)
        if found:
            with suppress(Refused):  # who asked for something meanwhile made it anew
                visit.vaults.table.write(
                    visit.owner, [Update(names.UPKEEP, set=found, condition=Condition(absent=True))]
                )
                visit.state |= found
        return {"found": len(found)}
