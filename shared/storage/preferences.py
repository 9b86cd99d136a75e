"""An owner's settings as they are sealed."""

from dataclasses import asdict, fields
from datetime import tzinfo
from typing import Any

from shared.crypto.keyring import OwnerKeys
from shared.domain.errors import SealBroken
from shared.domain.settings import Preferences
from shared.domain.times import zone
from shared.observability import alarm
from shared.ports import Item
from shared.storage import bodies, lines, names
from shared.storage.vaults import Opened

_NAMES = frozenset(field.name for field in fields(Preferences)) - {"version"}


def preferences_of(opened: Opened | None) -> Preferences:
    """Return the settings of an owner who was opened with the settings' item; the defaults when nothing is stored."""
    item = opened.items.get(names.SETTINGS) if opened else None
    return from_item(opened.keys, item) if opened and item else Preferences()


def retention_days(opened: Opened) -> int:
    """Return how long memories are kept, of an owner who was opened with the settings' item; −1: for ever. Settings that do not open
    hide nothing: memories are no more damaged than before."""
    try:
        return preferences_of(opened).retention_days
    except SealBroken:
        alarm("damaged", settings=True)
        return Preferences().retention_days


def time_zone(opened: Opened) -> tzinfo:
    """Return where the days of an owner begin who was opened with the settings' item; of settings that do not open, UTC."""
    try:
        return zone(preferences_of(opened).time_zone)
    except SealBroken:
        return zone(Preferences().time_zone)


def from_item(keys: OwnerKeys, item: Item) -> Preferences:
    """Open settings. Names that this version does not know are left out. Raises SealBroken."""
    version = int(item["version"])
    sealed = item.get("sealed")
    if not isinstance(sealed, bytes):
        raise SealBroken
    body = bodies.unpack(keys.unseal(lines.SETTINGS, lines.SETTINGS, version, int(item["gen"]), sealed))
    return Preferences(version=version, **{name: value for name, value in body.items() if name in _NAMES})


def to_body(preferences: Preferences) -> dict[str, Any]:
    """Return what is sealed of settings."""
    return {name: value for name, value in asdict(preferences).items() if name in _NAMES}
