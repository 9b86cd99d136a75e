"""Where things lie: object keys in the bucket and sort keys in the table."""

from datetime import datetime

from shared.domain.ids import ULID

HEAD = "head"
CHANGE = "head#"
MEMORY = "m#"
DEDUP = "d#"
PROJECT = "s#"
SETTINGS = "z"
PERSONA = "p"
SUGGESTION = "g#"
SESSION = "n"
NOTE = "n#"
"""Notes of a session: its id, `#`, and their own."""
ACTIVE = "v"
"""The project that is meant where none is named."""
TASK = "t#"
ONCE = "i#"
"""Idempotency keys and the window of equal conversations."""
AUDIT = "a#"
USAGE = "u#"
LEASE = "lease"
UPKEEP = "k"
"""What maintenance remembers of an owner: times and counts."""
AGENT_NOTES = "w#"
"""What the operator says to an agent; only in the partition of the deployment itself."""
ERASURE = "x"
"""The record of an owner's last erasure; it outlives the life that it ended."""

OWNERS = "o/"
FOLDED = "-"
"""Between the first and the last commit in the name of a folded object."""
COMMIT = ULID


def keyring(owner: str) -> str:
    return f"{OWNERS}{owner}/keyring"


def life(owner: str, epoch: int) -> str:
    """The prefix of everything of one life of an owner."""
    return f"{OWNERS}{owner}/{epoch}/"


def journal(owner: str, epoch: int, commit: str = "") -> str:
    return f"{life(owner, epoch)}journal/{commit}"


def index(owner: str, epoch: int, pointer: str = "") -> str:
    return f"{life(owner, epoch)}index/{pointer}"


def conversation(owner: str, epoch: int, task: str = "") -> str:
    return f"{life(owner, epoch)}conversations/{task}"


def imports(owner: str, epoch: int, task: str = "") -> str:
    """The prefix of the pages of one import, or of all."""
    return f"{life(owner, epoch)}imports/{task}" + ("/" if task else "")


def due_shard(owner: str, shards: int) -> str:
    """The shard of the due index that an owner belongs to; owner names are uniform already."""
    return f"due#{int.from_bytes(owner.encode()[:4], 'big') % shards}"


def usage(day: datetime) -> str:
    """The sort key under which a day (UTC) of an owner is counted."""
    return f"{USAGE}{day:%Y-%m-%d}"
