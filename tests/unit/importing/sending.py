"""Files that are imported into a world, and what became of them."""

import json
from dataclasses import dataclass
from typing import Any

from shared.domain.memory import Scope
from shared.domain.task import Task
from shared.keeping.cursors import Cursors
from shared.keeping.exporting.pages import Exporting, Wish
from shared.keeping.importing.course import Mode
from shared.keeping.importing.receiving import Received
from tests.builders import World


@dataclass(frozen=True)
class Page:
    """A request, with defaults."""

    data: str
    import_id: str | None = None
    mode: Mode = Mode.MERGE
    format: str = "auto"
    last: bool = True
    scope: Scope | None = None
    project: str | None = None
    confirm: bool = True
    master_key: str | None = None
    user_id: str | None = None


def lines(*said: Any) -> str:
    """Return these as JSON lines; a text is a memory that says it."""
    told = [{"kind": "memory", "content": one} if isinstance(one, str) else one for one in said]
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in told)


def exported(world: World, **wish: Any) -> list[str]:
    """Return the pages of an export with everything."""
    found: list[str] = []
    cursor = None
    exporting = Exporting(world.now.vaults, Cursors(world.random), world.now.auditing)
    while True:
        page = exporting.page(world.owner, Wish(**{"credentials": True, **wish}), cursor)
        found.append(page.data)
        cursor = page.next_cursor
        if cursor is None:
            return found


def send(world: World, *pages: str, **more: Any) -> Received:
    """Send a file in these pages."""
    received: Received | None = None
    for number, data in enumerate(pages, 1):
        world.clock.advance(1)
        before = received.task_id if received else None
        page = Page(data, before, last=number == len(pages), **more)
        received = world.now.importing.receive(world.owner, page)
    assert received is not None
    return received


def taken_in(world: World, *pages: str, visits: int = 1, **more: Any) -> Task:
    """Send a file, let maintenance take it in, and return the task."""
    task_id = send(world, *pages, **more).task_id
    for _ in range(visits):
        world.tidy()
    return world.now.tasks.get(world.owner, task_id)


def counted(task: Task) -> dict[str, int]:
    """Return what a task counted, but for zeros."""
    return {name: count for name, count in task.progress.items() if count}


def said(content: str, **more: Any) -> dict[str, Any]:
    """Return a memory's line."""
    return {"kind": "memory", "content": content, **more}
