"""People who write at random, and remember what was acknowledged."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from shared.domain.errors import Busy
from tests.builders import Draft, Process

SUBJECTS = ("deploys on Monday", "喝绿茶", "uses PostgreSQL")


@dataclass
class Writer:
    """Adds, edits and deletes at random and remembers what was acknowledged: texts by memory."""

    owner: str
    process: Process
    random: Random
    name: str
    kept: dict[str, str] = field(default_factory=dict)
    done: int = 0

    def write(self) -> None:
        """Do one thing; busy stores are asked again."""
        self.done += 1
        text = f"{self.name} {self.random.choice(SUBJECTS)}, {self.done}"
        kind = self.random.choice(["add", "add", "edit", "delete"]) if self.kept else "add"
        if kind == "add":
            made = _patiently(lambda: self.process.memories.add(self.owner, Draft(text)).memory)
            self.kept[made.id] = text
            return
        memory_id = self.random.choice(sorted(self.kept))
        if kind == "edit":
            _patiently(lambda: self.process.edits.edit(self.owner, memory_id, {"content": text}, None))
            self.kept[memory_id] = text
        else:
            _patiently(lambda: self.process.edits.delete(self.owner, memory_id, None))
            del self.kept[memory_id]


def _patiently(write: Callable[[], Any]) -> Any:
    while True:
        try:
            return write()
        except Busy:
            continue
