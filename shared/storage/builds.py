"""Asking maintenance for a new index. Knows nothing of how one is built."""

from shared.observability import warn
from shared.ports import Item, Queue


def pointer_of(head: Item) -> str:
    """Return the name of the index object that a head points to, or nothing."""
    return str(head.get("index", ""))


def ask_for_build(maintenance: Queue, owner: str, head: Item) -> None:
    """Ask for an owner's tidying, which builds the index anew: once per index and five minutes, whoever asks how often.

    Never raises: whoever asks has something better to do, and the schedule comes by in any case.
    """
    message: dict[str, str | int] = {"v": 1, "kind": "tidy", "owner": owner}
    try:
        maintenance.send(owner, message, deduplication=f"{owner[:40]}-{pointer_of(head)}")
    except Exception as error:  # noqa: BLE001 - an index that is late is no reason to refuse a write or a search
        warn("build_not_asked_for", kind=type(error).__name__)
