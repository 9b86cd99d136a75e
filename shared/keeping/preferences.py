"""An owner's settings: read and changed. What each may be is checked where it comes in; here versions decide."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from shared.crypto.keyring import OwnerKeys
from shared.domain.errors import Busy, SealBroken, VersionMismatch
from shared.domain.settings import Preferences
from shared.keeping.audit import auditing
from shared.keeping.audit.auditing import OWNER, Action
from shared.keeping.memories.edits import TRIES, Versions
from shared.ports import Item
from shared.storage import names
from shared.storage.builds import ask_for_comparison
from shared.storage.commit import Commits
from shared.storage.preferences import preferences_of, to_body


@dataclass(frozen=True, slots=True)
class Choices:
    """Settings of owners."""

    commits: Commits

    def read(self, owner: str) -> Preferences:
        """Return the settings; the defaults, version 0, until the first change. One step. Raises SealBroken."""
        return self._standing(owner)[0]

    def _standing(self, owner: str, *, replacing: bool = False) -> tuple[Preferences, Item | None]:
        """Return the settings; with `replacing`, where they do not open, the defaults under the latest version that anything names, and
        the item in whose place others go."""
        opened = self.commits.vaults.open(owner, [names.SETTINGS])
        try:
            return preferences_of(opened), None
        except SealBroken:
            ask_for_comparison(self.commits.maintenance, owner, self.commits.vaults.clock())
            if opened is None or not replacing:
                raise
            item = opened.items.get(names.SETTINGS, {"sk": names.SETTINGS})
            return Preferences(version=max(int(opened.head.get("settings", 0)), _version(item))), item

    def change(
        self, owner: str, sent: Mapping[str, Any], versions: Versions, life: OwnerKeys | None = None
    ) -> Preferences:
        """Change what was sent and return the settings; nothing new makes no version. Three steps.

        Keywords are replaced per language. With `life` nothing is changed in another one. That secrets are to show in contexts goes on
        record first, two steps more. Settings that do
        not open are replaced, by what was sent over the defaults. Raises VersionMismatch, TableLost, Busy, Unavailable.
        """
        for _ in range(TRIES):
            before, broken = self._standing(owner, replacing=True)
            if versions is not None and before.version not in versions:
                raise VersionMismatch
            after = replace(before, **{name: _merged(getattr(before, name), value) for name, value in sent.items()})
            if after == before and broken is None:
                return before
            if after.credentials_in_context and not before.credentials_in_context:
                self._recorded(owner, life)
            try:
                version = self.commits.commit_settings(owner, before.version, to_body(after), life, broken)
            except VersionMismatch:
                if versions is not None:
                    raise
                continue
            return replace(after, version=version)
        raise Busy

    def _recorded(self, owner: str, life: OwnerKeys | None) -> None:
        """Put the switch on the audit list before it holds: from then on contexts show secrets, and no entry is made of each."""
        vaults = self.commits.vaults
        keys = life or vaults.open_or_create(owner).keys
        auditing.record(vaults, keys, {"by": OWNER, "action": Action.CREDENTIALS_IN_CONTEXT})


def _version(item: Item) -> int:
    version = item.get("version")
    return version if isinstance(version, int) and 0 < version < 2**31 else 0


def _merged(before: Any, sent: Any) -> Any:
    return {**before, **sent} if isinstance(before, dict) else sent
