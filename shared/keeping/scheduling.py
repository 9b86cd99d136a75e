"""Who is due for maintenance: one FIFO message per owner, so that an owner is tidied by one run at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from shared.domain import limits
from shared.domain.times import rfc3339
from shared.ports import Objects, Queue
from shared.storage import names
from shared.storage.vaults import Vaults

OWNERS_A_SHARD = 1_000
OWNERS_A_MESSAGE = 200


@dataclass(frozen=True, slots=True)
class Scheduling:
    """Fans maintenance out."""

    vaults: Vaults
    maintenance: Queue

    def due(self, before: datetime | None = None) -> int:
        """Ask for the maintenance of every owner who is due (before that moment; default now); return how many."""
        limit = rfc3339(before or self.vaults.clock())
        asked = 0
        for shard in range(limits.DUE_SHARDS):
            for due in self.vaults.table.due(shard, before=limit, limit=OWNERS_A_SHARD):
                self._tidy(due.owner)
                asked += 1
        return asked

    def everyone(self, after: str = "") -> int:
        """Ask for the maintenance of every owner who has a keyring, due or not: it rebuilds whose table is lost.

        A message of its own goes on where this run ends. Returns how many were asked for now.
        """
        asked = list(islice(owners(self.vaults.objects, after), OWNERS_A_MESSAGE))
        for owner in asked:
            self._tidy(owner)
        if len(asked) == OWNERS_A_MESSAGE:
            body: dict[str, str | int] = {"v": 1, "kind": "rebuild", "after": asked[-1]}
            self.maintenance.send("rebuild", body, deduplication=f"rebuild-{self._once(asked[-1])}")
        return len(asked)

    def _tidy(self, owner: str) -> None:
        body: dict[str, str | int] = {"v": 1, "kind": "tidy", "owner": owner}
        self.maintenance.send(owner, body, deduplication=self._once(owner))

    def _once(self, owner: str) -> str:
        return f"{owner}-{rfc3339(self.vaults.clock())}"


def owners(objects: Objects, after: str = "") -> Iterator[str]:
    """Yield every owner in the bucket, in order, after that one. One round trip each."""
    key = f"{names.OWNERS}{after}/~" if after else ""
    while (found := next(objects.names(names.OWNERS, after=key), None)) is not None:
        owner = found.key.split("/", 2)[1]
        yield owner
        key = f"{names.OWNERS}{owner}/~"
