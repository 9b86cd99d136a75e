"""A person's suggestions: listed, accepted, dismissed. Maintenance makes them (shared/learning/evolution)."""

from collections.abc import Mapping
from dataclasses import dataclass

from shared.domain.errors import NotFound, SealBroken
from shared.domain.ids import is_ulid
from shared.keeping.cursors import Cursors
from shared.observability import alarm
from shared.ports import Item
from shared.storage import basis, names, suggestions
from shared.storage.commit import Commits
from shared.storage.document_commits import DocumentCommits
from shared.storage.documents import Document
from shared.storage.suggestions import STATUS, Decision, Suggestion
from shared.storage.vaults import Opened

_LIST = "suggestions"


@dataclass(frozen=True, slots=True)
class Suggestions:
    """The use cases of `/v1/suggestions`."""

    commits: Commits
    cursors: Cursors

    def page(
        self, owner: str, status: Decision | None, limit: int, cursor: str | None
    ) -> tuple[list[Suggestion], str | None]:
        """Return suggestions, the newest first, and the cursor to go on from; a page may hold fewer than `limit`. Three steps.

        Raises InvalidCursor, TableLost.
        """
        vaults = self.commits.vaults
        opened = vaults.open(owner, [names.SETTINGS])
        if opened is None:
            self.cursors.refuse(cursor)
            return [], None
        purpose = f"{_LIST} {status or ''}"
        after = self.cursors.read(opened.keys, purpose, cursor)
        page = vaults.table.query(owner, names.SUGGESTION, after=after, limit=limit, descending=True)
        found = [one for item in page.items if (one := _opened(opened, item)) and status in {None, one.status}]
        return self._shown(opened, found), self.cursors.write(opened.keys, purpose, page.after)

    def get(self, owner: str, suggestion_id: str) -> Suggestion:
        """Return one suggestion. Raises NotFound, also where what it rests on stands no more; SealBroken."""
        sk = names.SUGGESTION + suggestion_id
        opened = self.commits.vaults.open(owner, [names.SETTINGS, sk]) if is_ulid(suggestion_id) else None
        item = opened.items.get(sk) if opened else None
        found = suggestions.from_item(opened.keys, item) if opened and item else None
        shown = self._shown(opened, [found]) if opened and found else []
        if not shown:
            raise NotFound
        return shown[0]

    def decide(self, owner: str, suggestion_id: str, status: Decision, etags: frozenset[str] | None) -> Suggestion:
        """Accept or dismiss a suggestion, whatever was decided before, and return it. Raises what `get` does;
        VersionMismatch, QuotaExceeded, TableLost, Busy."""
        self.get(owner, suggestion_id)

        def decided(_opened: Opened, standing: Document) -> Mapping[str, str] | None:
            if not standing:
                raise NotFound
            return {STATUS: status.value}

        DocumentCommits(self.commits).write(owner, suggestions.place_of(suggestion_id), decided, etags)
        return self.get(owner, suggestion_id)

    def _shown(self, opened: Opened, found: list[Suggestion]) -> list[Suggestion]:
        """Leave out what rests on memories that do not stand, or say something else."""
        ground = basis.read(self.commits.vaults, opened, [one.rests for one in found])
        return [shown for one in found if (shown := one.shown(ground))]


def _opened(opened: Opened, item: Item) -> Suggestion | None:
    try:
        return suggestions.from_item(opened.keys, item)
    except SealBroken:
        alarm("damaged", suggestion=str(item["sk"]).removeprefix(names.SUGGESTION))
        return None
