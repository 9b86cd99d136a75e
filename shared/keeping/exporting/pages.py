"""Pages of an export: header, memories by id, documents, settings, manifest. A page is made when it is asked for; nothing of it is stored.

What is written while an export goes on may be in it or not, each memory whole; what was there before and stays is in it. An export with
secrets is on record once, when it begins. So it tells none that was written later, and it ends: a cursor knows when its export began.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

from shared.domain import drafts, limits
from shared.domain.errors import InvalidCursor, SealBroken
from shared.domain.ids import ulid_time
from shared.domain.memory import Memory, Status
from shared.domain.times import rfc3339
from shared.keeping.cursors import Cursors
from shared.keeping.exporting import chain
from shared.keeping.exporting.forms import document_form, memory_form, settings_form
from shared.observability import alarm
from shared.storage import basis, documents, items, lines, names, persona, scenes, suggestions
from shared.storage.journal import Journal
from shared.storage.partition import each_item, pages
from shared.storage.preferences import preferences_of, preferences_or_default
from shared.storage.vaults import Opened, Vaults

BATCH = 100
PURPOSE = "export"


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be exported. `since` ≤ created < `until` bounds memories; without `content` only what surrounds the texts."""

    since: datetime | None = None
    until: datetime | None = None
    content: bool = True
    history: bool = False
    credentials: bool = False


@dataclass(frozen=True, slots=True)
class Exported:
    """A page: lines with their ends, and where to go on (None: this was the last one)."""

    data: str
    lines: int
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class _At:
    """Where an export is: when it began (in milliseconds), the stage, the key after which it goes on, the chain so far, and what was
    counted."""

    began: int
    stage: int = 0
    after: str = ""
    chain: str = ""
    counts: dict[str, int] = field(default_factory=dict)

    def past(self, kind: str, line: str, after: str) -> "_At":
        counts = self.counts | {kind: self.counts.get(kind, 0) + 1}
        return replace(self, after=after, chain=chain.chained(self.chain, line), counts=counts)


class Record(Protocol):
    """Puts an export with credentials on the owner's audit list."""

    def exported(self, owner: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Exporting:
    """The use case of `GET /v1/export`."""

    vaults: Vaults
    cursors: Cursors
    audit: Record

    def page(self, owner: str, wish: Wish, cursor: str | None) -> Exported:
        """Return the page from the cursor on: at most EXPORT_BYTES, in at most EXPORT_TIME, but one line at least.

        With credentials the export is on record before anything of it is answered. Raises InvalidCursor, also EXPORT_LASTS after its
        first page; Unavailable.
        """
        opened = self.vaults.open(owner, [names.SETTINGS, names.ACTIVE, names.PERSONA, names.SESSION])
        if opened is None:
            self.cursors.refuse(cursor)
        at = self._at(opened, wish, cursor)
        if wish.credentials and cursor is None and opened is not None:
            self.audit.exported(owner)
        said: list[str] = []
        size, ends = 0, self.vaults.clock() + limits.EXPORT_TIME
        for stage, kind, line, after in self._lines(opened, wish, at):
            size += len(line.encode("utf-8", "surrogatepass")) + 1
            if said and (size > limits.EXPORT_BYTES or self.vaults.clock() > ends):
                return self._answer(opened, wish, at, said)
            at = replace(at, stage=stage).past(kind, line, after)
            said.append(line)
        manifest = {"counts": at.counts, "sha256": at.chain}
        said.append(chain.line_of(chain.MANIFEST, manifest))
        return Exported("\n".join(said) + "\n", len(said), None)

    def _answer(self, opened: Opened | None, wish: Wish, at: _At, said: list[str]) -> Exported:
        position = json.dumps(asdict(at), separators=(",", ":"))
        cursor = self.cursors.write(opened.keys, _purpose(wish), position) if opened else None
        return Exported("\n".join(said) + "\n", len(said), cursor)

    def _at(self, opened: Opened | None, wish: Wish, cursor: str | None) -> _At:
        position = self.cursors.read(opened.keys, _purpose(wish), cursor) if opened else None
        now = _milliseconds(self.vaults.clock())
        if position is None:
            return _At(now)
        try:
            at = _At(**json.loads(position))
        except (ValueError, TypeError):
            raise InvalidCursor from None
        if now > at.began + limits.EXPORT_LASTS / timedelta(milliseconds=1):
            raise InvalidCursor("This export began too long ago. Begin again without the cursor.")
        return at

    def _lines(self, opened: Opened | None, wish: Wish, at: _At) -> Iterator[tuple[int, str, str, str]]:
        """Yield the stage, the kind, the line, and the key after which it is past, from where the export is."""
        for number, kind in enumerate(_STAGES):
            if number < at.stage or (opened is None and kind != chain.HEADER):
                continue
            after = at.after if number == at.stage else ""
            for said, key in self._stage(kind, opened, wish, replace(at, after=after)):
                told = said.pop("kind", kind)
                yield number, told, chain.line_of(told, said), key

    def _stage(self, kind: str, opened: Opened | None, wish: Wish, at: _At) -> Iterator[tuple[dict[str, Any], str]]:
        after = at.after
        if kind == chain.HEADER:
            if not after:
                yield self._header(opened, wish), kind
        elif opened is None:
            return
        elif kind == chain.MEMORY:
            yield from self._memories(opened, wish, at)
        elif kind == chain.SCENE:
            yield from self._scenes(opened, wish, after)
        elif kind == chain.SUGGESTION:
            yield from self._suggestions(opened, wish, after)
        elif not after:
            yield from self._single(kind, opened, wish)

    def _header(self, opened: Opened | None, wish: Wish) -> dict[str, Any]:
        """Say what was asked for, and how many notes of an open session are not in it: they are memories once it ends."""
        session = opened.items.get(names.SESSION) if opened else None
        waiting = {"open_session": {"notes": int(session["notes"])} if session else None}
        said = {"nacre": chain.FORMAT, "exported_at": rfc3339(self.vaults.clock())}
        bounds = {
            "from": rfc3339(wish.since) if wish.since else None,
            "to": rfc3339(wish.until) if wish.until else None,
        }
        return (
            said
            | bounds
            | {"content": wish.content, "history": wish.history, "credentials": wish.credentials}
            | waiting
        )

    def _memories(self, opened: Opened, wish: Wish, at: _At) -> Iterator[tuple[dict[str, Any], str]]:
        journal = Journal(self.vaults.objects, opened.keys, self.vaults.random)
        now, days = self.vaults.clock(), preferences_or_default(opened).retention_days
        table, owner = self.vaults.table, opened.keys.owner
        for page in pages(table, owner, names.MEMORY, after=at.after or None, limit=BATCH):
            read = [(str(item["sk"]), _opened(opened, item)) for item in page]
            wanted = {m.id: m.prior for _, m in read if m is not None and m.prior and _wanted(m, wish)}
            earlier = journal.histories(wanted) if wish.history and wanted else {}
            for sk, memory in read:
                if memory is None:
                    yield {"kind": chain.DAMAGED, "id": sk.removeprefix(names.MEMORY)}, sk
                elif memory.status is not Status.RETIRED and _wanted(memory, wish) and not memory.expired(now, days):
                    past = [drafts.as_past(version, memory) for version in earlier.get(memory.id, [])]
                    versions = past if wish.history else None
                    secrets = wish.credentials and _milliseconds(ulid_time(memory.commit)) <= at.began
                    yield memory_form(memory, versions, content=wish.content, secrets=secrets), sk

    def _scenes(self, opened: Opened, wish: Wish, after: str) -> Iterator[tuple[dict[str, Any], str]]:
        """Yield scenes that were ever told of, with their texts while these hold."""
        if not wish.content:
            return
        table, owner = self.vaults.table, opened.keys.owner
        for item in each_item(table, owner, names.PROJECT, after=after or None, limit=BATCH):
            try:
                scene = scenes.read(opened.keys, item)
            except SealBroken:
                yield {"kind": chain.DAMAGED, "id": str(item["sk"]).removeprefix(names.PROJECT)}, str(item["sk"])
                continue
            if scene is None or not scene.document:
                continue
            ground = basis.read(self.vaults, opened, scene.bases)
            rests = {f: ground.ids(scene.basis(f)) for f in scenes.RESTS_ON if scene.document.get(f)}
            gone = {f for f, ids in rests.items() if ids is None}
            hidden = frozenset(gone | {scenes.RESTS_ON[f] for f in gone} | {*scenes.SAID.values()})
            said = document_form(scene.document, hidden)
            said["fields"] |= {scenes.RESTS_ON[f]: list(ids) for f, ids in rests.items() if ids is not None}
            yield said, str(item["sk"])

    def _suggestions(self, opened: Opened, wish: Wish, after: str) -> Iterator[tuple[dict[str, Any], str]]:
        if not wish.content:
            return
        table, owner = self.vaults.table, opened.keys.owner
        for item in each_item(table, owner, names.SUGGESTION, after=after or None, limit=BATCH):
            sk = str(item["sk"])
            suggestion_id = sk.removeprefix(names.SUGGESTION)
            try:
                document = documents.from_item(opened.keys, lines.SUGGESTION, suggestion_id, item)
            except SealBroken:
                yield {"kind": chain.DAMAGED, "id": suggestion_id}, sk
                continue
            suggestion = suggestions.of(suggestion_id, document)
            if suggestion is None:
                continue
            shown = suggestion.shown(basis.read(self.vaults, opened, [suggestion.rests])) if suggestion.text else None
            if shown or not suggestion.text:
                said = document_form(document, frozenset({suggestions.SAID}))
                yield {"fields": said["fields"] | ({suggestions.BASIS: list(shown.basis)} if shown else {})}, sk

    def _single(self, kind: str, opened: Opened, wish: Wish) -> Iterator[tuple[dict[str, Any], str]]:
        """Yield what there is one of: persona, active project, settings."""
        if kind == chain.SETTINGS:
            try:
                yield dict(settings_form(preferences_of(opened))), kind
            except SealBroken:
                yield {"kind": chain.DAMAGED, "id": lines.SETTINGS}, kind
            return
        document_kind = {chain.PERSONA: lines.PERSONA, chain.ACTIVE: lines.ACTIVE}[kind]
        item = opened.items.get(documents.sk_of(document_kind, document_kind))
        try:
            document = documents.from_item(opened.keys, document_kind, document_kind, item)
        except SealBroken:
            yield {"kind": chain.DAMAGED, "id": document_kind}, kind
            return
        if not document or not wish.content:
            return
        said = document_form(document)
        if kind == chain.PERSONA:
            whole = persona.Persona.of(document)
            said["fields"] |= whole.shown(basis.read(self.vaults, opened, whole.bases)).fields()
            del said["fields"][persona.SAID]
        yield said, kind


_STAGES = (chain.HEADER, chain.MEMORY, chain.SCENE, chain.PERSONA, chain.SUGGESTION, chain.ACTIVE, chain.SETTINGS)


def _opened(opened: Opened, item: Any) -> Memory | None:
    try:
        return items.from_item(opened.keys, item).memory
    except SealBroken:
        alarm("damaged", memory=str(item["sk"]).removeprefix(names.MEMORY))
        return None


def _wanted(memory: Memory, wish: Wish) -> bool:
    return (wish.since is None or wish.since <= memory.created_at) and (
        wish.until is None or memory.created_at < wish.until
    )


def _milliseconds(at: datetime) -> int:
    return int(at.timestamp() * 1000)


def _purpose(wish: Wish) -> str:
    times = [rfc3339(at) if at else None for at in (wish.since, wish.until)]
    return json.dumps([PURPOSE, *times, wish.content, wish.history, wish.credentials])
