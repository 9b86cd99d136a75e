"""A person's own persona: reading it, asking for a new one, deleting it. Maintenance makes it (shared/learning/persona)."""

from contextlib import suppress
from dataclasses import dataclass

from shared.crypto.keyring import OwnerKeys
from shared.domain.errors import NotPossibleNow, Refused, SealBroken, Unavailable, VersionMismatch
from shared.domain.ids import ulid
from shared.domain.task import TaskStatus
from shared.domain.times import rfc3339
from shared.keeping.idempotency import Asked, Mark, standing
from shared.ports import Condition, Item, Put, Update
from shared.storage import basis, lines, names
from shared.storage.builds import ask_for_comparison
from shared.storage.commit import TRIES, Commits
from shared.storage.document_commits import END, DocumentCommits, End
from shared.storage.documents import Document, from_item
from shared.storage.persona import Persona, place
from shared.storage.preferences import preferences_of
from shared.storage.transactions import Replayed, Stale
from shared.storage.vaults import Opened

KIND = "persona"
WAITING = "persona_task"
"""Column of maintenance's own item: the task of a refresh that was asked for and is not over. There is one at most."""


@dataclass(frozen=True, slots=True)
class Portrait:
    """The use cases of `/v1/persona`."""

    commits: Commits

    def get(self, owner: str) -> tuple[Persona, str]:
        """Return the persona as it may be shown, and its latest commit (empty: there never was one). Two steps with warm keys.

        Raises SealBroken, TableLost.
        """
        vaults = self.commits.vaults
        opened = vaults.open(owner, [names.PERSONA, names.SETTINGS])
        if opened is None:
            return Persona(), ""
        try:
            document = from_item(opened.keys, lines.PERSONA, lines.PERSONA, opened.items.get(names.PERSONA))
        except SealBroken:
            ask_for_comparison(self.commits.maintenance, owner, vaults.clock())
            raise
        persona = Persona.of(document)
        return persona.shown(basis.read(vaults, opened, persona.bases)), document.latest

    def delete(self, owner: str, etags: frozenset[str] | None = None) -> None:
        """End the persona; the next refresh makes another one of the facts that stand then. Raises VersionMismatch, TableLost, Busy."""
        if self.commits.vaults.open(owner) is None:
            return

        def ended(_opened: Opened, standing: Document) -> End | None:
            return END if standing else None

        DocumentCommits(self.commits).write(owner, place, ended, etags)

    def ask(self, owner: str, once: Mark | None = None) -> Asked:
        """Make the task that refreshes the persona, ask maintenance to do it, and return it; where one waits already, that one.

        Raises NotPossibleNow (the owner has switched memory off), IdempotencyKeyReused, IdempotencyKeySpent, TableLost, Unavailable.
        """
        vaults = self.commits.vaults
        for _ in range(TRIES):
            opened = vaults.open_or_create(owner, [names.SETTINGS, names.UPKEEP])
            if not preferences_of(opened).enabled:
                raise NotPossibleNow("Learning and recall are switched off; switch `enabled` on first.")
            waiting = opened.items.get(names.UPKEEP, {}).get(WAITING)
            task_id = str(waiting) if waiting is not None else ulid(vaults.clock(), vaults.random)
            try:
                if waiting is None or once is not None:
                    self._begin(opened.keys, task_id, once, new=waiting is None)
            except Replayed as replayed:
                return standing(vaults, owner, replayed.made, replayed=True)
            except (Stale, VersionMismatch):  # a new life, or another request was first
                continue
            if waiting is not None:
                return standing(vaults, owner, task_id, replayed=False)
            message: dict[str, str | int] = {"v": 1, "kind": "tidy", "owner": owner}
            with suppress(Unavailable):  # the owner is due in any case
                self.commits.maintenance.send(owner, message, deduplication=f"{owner[:40]}-{task_id}")
            return Asked(task_id)
        raise Unavailable

    def _begin(self, keys: OwnerKeys, task_id: str, once: Mark | None, *, new: bool) -> None:
        """Store the task if it is new, and that this request made it. Raises Replayed; VersionMismatch where another one waits by now."""
        now = self.commits.vaults.clock()
        transaction = self.commits.transaction(keys)
        if once:
            transaction.add("once", once(keys, task_id).write(now))
        if new:
            transaction.add("task", Put(new_item(task_id, TaskStatus.QUEUED, rfc3339(now)), Condition(absent=True)))
        first = Condition(equals={WAITING: None if new else task_id})
        transaction.add("waiting", Update(names.UPKEEP, set={WAITING: task_id}, condition=first))
        transaction.head({}, deleting=True)
        try:
            self.commits.vaults.table.write(keys.owner, transaction.writes)
        except Refused as refused:
            reason = transaction.explain(refused)
            if isinstance(reason, Stale):
                self.commits.vaults.forget(keys.owner)
            raise reason from None


def new_item(task_id: str, status: TaskStatus, now: str) -> Item:
    """Return the item of a refresh's task; `now` as RFC 3339."""
    item: Item = {"sk": names.TASK + task_id, "kind": KIND, "status": status.value}
    return item | {"created_at": now, "updated_at": now, "run": 1, "attempts": 0, "applied": 0}
