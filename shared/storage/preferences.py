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
    """Return the settings of an owner who was opened with the settings' item; the defaults when nothing was ever stored.

    Raises SealBroken, also where the head knows of later ones than there are: what was switched off does not come on by a loss.
    """
    if opened is None:
        return Preferences()
    item, known = opened.items.get(names.SETTINGS), int(opened.head.get("settings", 0))
    found = from_item(opened.keys, item) if item else Preferences()
    if found.version < known:
        raise SealBroken
    return found


def preferences_or_default(opened: Opened | None) -> Preferences:
    """Return the settings for who only shows what is there, as `preferences_of` does; where they do not open, the defaults, which hide
    and delete nothing."""
    try:
        return preferences_of(opened)
    except SealBroken:
        alarm("damaged", settings=True)
        return Preferences()


def retention_days(opened: Opened) -> int:
    """Return how long memories are kept, of an owner who was opened with the settings' item; −1: for ever. Settings that do not open
    hide nothing: memories are no more damaged than before."""
    return preferences_or_default(opened).retention_days


def time_zone(opened: Opened) -> tzinfo:
    """Return where the days of an owner begin who was opened with the settings' item; of settings that do not open, UTC."""
    try:
        return zone(preferences_of(opened).time_zone)
    except SealBroken:
        return zone(Preferences().time_zone)


def from_item(keys: OwnerKeys, item: Item) -> Preferences:
    """Open settings. Names that this version does not know are left out. Raises SealBroken."""
    sealed = item.get("sealed")
    if not isinstance(sealed, bytes):
        raise SealBroken
    try:
        version, generation = int(item["version"]), int(item["gen"])
    except (KeyError, TypeError, ValueError):
        raise SealBroken from None
    body = bodies.unpack(keys.unseal(lines.SETTINGS, lines.SETTINGS, version, generation, sealed))
    return Preferences(version=version, **{name: value for name, value in body.items() if name in _NAMES})


def to_body(preferences: Preferences) -> dict[str, Any]:
    """Return what is sealed of settings."""
    return {name: value for name, value in asdict(preferences).items() if name in _NAMES}
