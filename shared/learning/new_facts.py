"""Asking maintenance to come at once when learning has found enough new facts for a new persona, or what may be meant to be forgotten.
What is added by hand is seen within five minutes."""

from shared.domain import limits
from shared.keeping.forgetting.asking import WAITING
from shared.observability import warn
from shared.ports import Queue
from shared.storage import names
from shared.storage.vaults import Opened

SEEN = "persona_seen"
"""Of maintenance's own memory: the head's count of commits when facts were last looked at, less those that were new then."""


def ask_for_persona(maintenance: Queue, opened: Opened, learned: int) -> None:
    """Ask for a visit when these facts, learned since the owner was opened with UPKEEP, may make enough: every fact is a commit, and other
    things are too. Once in five minutes until one was made. Never raises: the owner is due in any case."""
    owner, seen = opened.keys.owner, int(opened.items.get(names.UPKEEP, {}).get(SEEN, 0))
    if not learned or int(opened.head["commits"]) + learned - seen < limits.PERSONA_NEWS:
        return
    _ask(maintenance, owner, f"persona-{seen}")


def ask_to_forget(maintenance: Queue, opened: Opened, task_id: str) -> None:
    """Ask for a visit when something learned may be what a request to forget means that was made before. Never raises."""
    if int(opened.items.get(names.UPKEEP, {}).get(WAITING, 0)) > 0:
        _ask(maintenance, opened.keys.owner, f"forget-{task_id}")


def _ask(maintenance: Queue, owner: str, reason: str) -> None:
    message: dict[str, str | int] = {"v": 1, "kind": "tidy", "owner": owner}
    try:
        maintenance.send(owner, message, deduplication=f"{owner[:40]}-{reason}")
    except Exception as error:  # noqa: BLE001 - a visit that is late is no reason to learn again
        warn("visit_not_asked_for", kind=type(error).__name__)
