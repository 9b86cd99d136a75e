"""Asking maintenance for a new index, or to hold the table against the journal. Knows nothing of how that is done."""

from datetime import datetime

from shared.domain.times import epoch_seconds
from shared.observability import warn
from shared.ports import Item, Queue


def pointer_of(head: Item) -> str:
    """Return the name of the index object that a head points to, or nothing."""
    return str(head.get("index", ""))


def ask_for_build(maintenance: Queue, owner: str, head: Item) -> None:
    """Ask for an owner's tidying, which builds the index anew: once per index and five minutes, whoever asks how often.

    Never raises: whoever asks has something better to do, and the schedule comes by in any case.
    """
    _ask(maintenance, owner, f"{owner[:40]}-{pointer_of(head)}", "build_not_asked_for", {})


def ask_for_comparison(maintenance: Queue, owner: str, now: datetime) -> None:
    """Tell maintenance that something of an owner's table was met that does not open or is gone: once in five minutes, whoever meets it how
    often. Never raises."""
    _ask(
        maintenance,
        owner,
        f"{owner[:40]}-noticed-{epoch_seconds(now) // 300}",
        "comparison_not_asked_for",
        {"noticed": 1},
    )


def _ask(maintenance: Queue, owner: str, deduplication: str, else_: str, more: dict[str, int]) -> None:
    message: dict[str, str | int] = {"v": 1, "kind": "tidy", "owner": owner, **more}
    try:
        maintenance.send(owner, message, deduplication=deduplication)
    except Exception as error:  # noqa: BLE001 - an index that is late is no reason to refuse a write or a search
        warn(else_, kind=type(error).__name__)
