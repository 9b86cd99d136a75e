"""Who is due for maintenance: one FIFO message per owner, so that an owner is tidied by one run at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from heapq import merge
from itertools import islice
from operator import attrgetter

from shared.domain import limits
from shared.domain.errors import Refused
from shared.domain.times import rfc3339
from shared.ports import Condition, Due, Objects, Queue, Update
from shared.storage import names
from shared.storage.together import each, together
from shared.storage.vaults import Vaults

OWNERS_A_MESSAGE = 200
LETTERS = "234567abcdefghijklmnopqrstuvwxyz"
"""Of owners' names, each as frequent as the others, in the order in which the bucket lists them."""


@dataclass(frozen=True, slots=True)
class Scheduling:
    """Fans maintenance out."""

    vaults: Vaults
    maintenance: Queue

    def due(self) -> dict[str, int]:
        """Ask for the maintenance of owners who are due, who waited longest first; return how many.

        Whoever is asked for is marked due half an hour later, on the condition that nobody else did it: two runs at once ask for no owner
        twice, and a message that was lost is made up for. A message of its own goes on where more than OWNERS_A_MESSAGE are due.
        """
        now = self.vaults.clock()
        ask = partial(self.vaults.table.due, before=rfc3339(now), limit=OWNERS_A_MESSAGE)
        shards = together(*[partial(ask, shard) for shard in range(limits.DUE_SHARDS)])
        waiting = list(islice(merge(*shards, key=attrgetter("at")), OWNERS_A_MESSAGE))
        own = each(partial(self._claim, rfc3339(now + limits.STEP_AGAIN)), waiting)
        claimed = [due.owner for due, is_own in zip(waiting, own, strict=True) if is_own]
        owners_ = list(dict.fromkeys(claimed))
        each(self._tidy, owners_)
        if owners_ and len(waiting) == OWNERS_A_MESSAGE:
            self._go_on({"kind": "schedule"}, waiting[-1].owner)
        return {"owners": len(owners_)}

    def one(self, owner: str) -> dict[str, int]:
        """Ask for the maintenance of one owner, due or not, which rebuilds a table that is lost and compares one that is there with the
        journal; return 0 when there is no such owner."""
        if self.vaults.objects.get(names.keyring(owner)) is None:
            return {"owners": 0}
        self._compare(owner)
        return {"owners": 1}

    def everyone(self, after: str = "") -> dict[str, int]:
        """Ask for the maintenance of every owner who has a keyring, due or not: it rebuilds whose table is lost, and compares all others
        with their journals.

        A message of its own goes on where this run ends. Returns how many were asked for now, and how many percent of all names lie behind:
        names are digests, so that is the share of owners too.
        """
        asked = list(islice(owners(self.vaults.objects, after), OWNERS_A_MESSAGE))
        each(self._compare, asked)
        if len(asked) < OWNERS_A_MESSAGE:
            return {"owners": len(asked), "percent": 100}
        self._go_on({"kind": "rebuild", "after": asked[-1]}, asked[-1])
        return {"owners": len(asked), "percent": _percent(asked[-1])}

    def _claim(self, later: str, due: Due) -> bool:
        """Mark the owner due later, unless that was done since the index said so; tell whether it was done now."""
        claim = Update(due.sk, set={"due_at": later}, condition=Condition(equals={"due_at": due.at}))
        try:
            self.vaults.table.write(due.owner, [claim])
        except Refused:
            return False
        return True

    def _tidy(self, owner: str) -> None:
        body: dict[str, str | int] = {"v": 1, "kind": "tidy", "owner": owner}
        self.maintenance.send(owner, body, deduplication=self._once(owner))

    def _compare(self, owner: str) -> None:
        body: dict[str, str | int] = {"v": 1, "kind": "tidy", "owner": owner, "compare": 1}
        self.maintenance.send(owner, body, deduplication=f"compare-{self._once(owner)}")

    def _go_on(self, body: dict[str, str], at: str) -> None:
        kind = body["kind"]
        self.maintenance.send(kind, {"v": 1, **body}, deduplication=f"{kind}-{self._once(at)}")

    def _once(self, owner: str) -> str:
        return f"{owner}-{rfc3339(self.vaults.clock())}"


def owners(objects: Objects, after: str = "") -> Iterator[str]:
    """Yield every owner in the bucket, in order, after that one. One round trip each."""
    key = f"{names.OWNERS}{after}/~" if after else ""
    while (found := next(objects.names(names.OWNERS, after=key), None)) is not None:
        owner = found.key.split("/", 2)[1]
        yield owner
        key = f"{names.OWNERS}{owner}/~"


def _percent(owner: str) -> int:
    """Return the place of an owner's name among all names of base32, in percent."""
    high, low = (max(0, LETTERS.find(letter)) for letter in owner[:2])
    return 100 * (high * len(LETTERS) + low) // len(LETTERS) ** 2
