"""The journal of one owner: immutable objects named by their commit, and folded objects named by the commits they span.

A folded object holds sealed blocks of many records; what a record says is the same in both forms.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from shared.crypto.keyring import OwnerKeys
from shared.domain import limits
from shared.domain.errors import SealBroken
from shared.domain.ids import Random, ulid, ulid_time
from shared.domain.memory import Memory
from shared.domain.times import moment, rfc3339
from shared.ports import Objects, StoredObject
from shared.storage import bodies, items, lines, names
from shared.storage.documents import Document, read_body
from shared.storage.together import each, together

Place = tuple[str, str]
"""A version of a memory by the memory's id and the commit that made it."""


@dataclass(frozen=True, slots=True)
class Record:
    """One line, opened. A tombstone has `tag` and `at` and no body."""

    kind: str
    id: str
    version: int
    commit: str
    body: dict[str, Any]
    tag: str = ""
    at: datetime | None = None

    @property
    def place(self) -> tuple[str, str, int, str]:
        """What makes a record one: equal places hold equal records."""
        return self.kind, self.id, self.version, self.commit

    @property
    def written(self) -> datetime:
        """When it was written, to the millisecond: a plan has one commit however late it was made, but its memories say when."""
        committed = ulid_time(self.commit)
        changed = self.body.get("updated_at") if self.kind == lines.MEMORY else None
        return max(committed, moment(changed)) if isinstance(changed, str) else committed

    @property
    def prior(self) -> list[str]:
        """The commits of the memory's earlier versions: each of them was applied."""
        return list(self.body.get("prior", ()))

    def memory(self) -> Memory:
        """Read a memory's record. Raises SealBroken."""
        return items.read_body(self.id, self.version, self.body)

    def document(self) -> Document:
        """Read a document's record. Raises SealBroken."""
        return read_body(self.body)

    def within(self, standing: Document) -> "Record | None":
        """Return the record with what the standing document says still; None where that is nothing."""
        document = self.document()
        part = document.within(standing)
        if part == document:
            return self
        return replace(self, body=part.to_body()) if part or part.ended else None


def merged(records: Iterable[Record]) -> dict[tuple[str, str, int, str], Record]:
    """Return records by place, each once; records of one document at one place become one that says what they say together."""
    found: dict[tuple[str, str, int, str], Record] = {}
    for record in records:
        known = found.get(record.place)
        if known is not None and record.kind in lines.DOCUMENTS:
            record = replace(record, body=known.document().joined(record.document()).to_body())  # noqa: PLW2901
        found[record.place] = record
    return found


@dataclass(frozen=True, slots=True)
class JournalObject:
    """The name of an object, the first and last commit in it, and its size in bytes."""

    key: str
    first: str
    last: str
    size: int

    @property
    def folded(self) -> bool:
        return names.FOLDED in self.key.rsplit("/", 1)[1]


class Journal:
    """Reads and rewrites the journal of one opened owner."""

    def __init__(self, objects: Objects, keys: OwnerKeys, random: Random) -> None:
        self.objects, self.keys, self.random = objects, keys, random
        self.prefix = names.journal(keys.owner, keys.epoch)

    def listing(self) -> list[JournalObject]:
        """Return all objects in the order of their first commits."""
        found = []
        for name in self.objects.names(self.prefix):
            first, _, last = name.key.removeprefix(self.prefix).partition(names.FOLDED)
            found.append(JournalObject(name.key, first, last or first, name.size))
        return found

    def read(self, listed: JournalObject) -> tuple[StoredObject, list[Record]] | None:
        """Return an object with its records; None when it is gone by now. Raises SealBroken."""
        stored = self.objects.get(listed.key)
        if stored is None:
            return None
        return stored, list(self.records(lines.decode(stored.body), listed.first))

    def records(self, decoded: Iterable[lines.Line], commit: str) -> Iterator[Record]:
        """Open lines; those outside of a block belong to that commit. Raises SealBroken."""
        for line in decoded:
            if line.kind == lines.TOMBSTONE:
                yield Record(line.kind, line.id, line.version, commit, {}, line.tag, line.at)
                continue
            plain = self.keys.unseal(line.kind, line.id, line.version, line.generation, line.sealed)
            body = bodies.unpack(plain)
            if line.kind == lines.BLOCK:
                yield from block_records(body)
            else:
                yield Record(line.kind, line.id, line.version, commit, body)

    def blocks(self, records: Iterable[Record], new_id: Callable[[], str]) -> Iterator[tuple[lines.Line, list[Record]]]:
        """Seal records as blocks of about BLOCK_BYTES of plain JSON each; yield each with its records. `new_id` names them."""
        waiting: list[Record] = []
        size = 0
        for record in records:
            waiting.append(record)
            size += len(str(record.body))
            if size >= limits.BLOCK_BYTES:
                yield self._block(new_id(), waiting), waiting
                waiting, size = [], 0
        if waiting:
            yield self._block(new_id(), waiting), waiting

    def replace(self, key: str, stored: StoredObject, kept: bytes) -> None:
        """Replace an object by what is kept of it and remove what that supersedes; nothing kept removes it whole.

        Raises Changed when it is not the object that was read.
        """
        if kept == stored.body:
            return
        if kept:
            self.objects.put(key, kept, if_match=stored.etag)
            self.objects.erase(key, keep_current=True)
        else:
            self.objects.erase(key)

    def remove(self, listed: JournalObject, places: Collection[Place], now: datetime) -> None:
        """Take versions of memories out of an object, and remove what it superseded, now or before. Raises SealBroken, Changed."""
        stored = self.objects.get(listed.key)
        if stored is None:
            return
        kept: list[lines.Line] = []
        for line in lines.decode(stored.body):
            held = list(self.records([line], listed.first))
            left = [one for one in held if one.kind != lines.MEMORY or (one.id, one.commit) not in places]
            if len(left) == len(held):
                kept.append(line)
            elif left:
                kept.append(self._block(ulid(now, self.random), left))
        body = lines.encode(kept)
        if body and body != stored.body:
            self.objects.put(listed.key, body, if_match=stored.etag)
        self.objects.erase(listed.key, keep_current=bool(body))

    def versions(self, memory_id: str, commits: Iterable[str]) -> list[Memory]:
        """Return the versions of a memory that those commits hold, in their order; lost or damaged ones are left out."""
        wanted = list(commits)
        found = dict(zip(wanted, each(partial(self._version, memory_id), wanted), strict=True))
        missing = {commit for commit, memory in found.items() if memory is None}
        if missing:
            folded = [o for o in self.listing() if o.folded and any(o.first <= commit <= o.last for commit in missing)]
            for read in together(*[partial(self._read_or_none, listed) for listed in folded]) if folded else []:
                for record in read or ():
                    if record.commit in missing and record.kind == lines.MEMORY and record.id == memory_id:
                        found[record.commit] = record.memory()
        return [replace(memory, commit=commit) for commit in wanted if (memory := found[commit]) is not None]

    def histories(self, wanted: Mapping[str, Iterable[str]]) -> dict[str, list[Memory]]:
        """Return what `versions` does for many memories, by id. Each object is read once, folded ones one after the other."""
        places = {(memory_id, commit) for memory_id, commits in wanted.items() for commit in commits}
        found: dict[tuple[str, str], Memory] = {}

        def take(records: Iterable[Record]) -> None:
            for record in records:
                if record.kind == lines.MEMORY and (record.id, record.commit) in places:
                    found[record.id, record.commit] = replace(record.memory(), commit=record.commit)

        commits = sorted({commit for _, commit in places})
        for one in each(
            lambda commit: self._read_or_none(JournalObject(self.prefix + commit, commit, commit, 0)), commits
        ):
            take(one)
        missing = {commit for memory_id, commit in places if (memory_id, commit) not in found}
        for listed in self.listing() if missing else ():
            if listed.folded and any(listed.first <= commit <= listed.last for commit in missing):
                take(self._read_or_none(listed))
        return {
            memory_id: [found[memory_id, commit] for commit in commits if (memory_id, commit) in found]
            for memory_id, commits in wanted.items()
        }

    def _version(self, memory_id: str, commit: str) -> Memory | None:
        for record in self._read_or_none(JournalObject(self.prefix + commit, commit, commit, 0)):
            if record.kind == lines.MEMORY and record.id == memory_id:
                return record.memory()
        return None

    def _read_or_none(self, listed: JournalObject) -> list[Record]:
        try:
            read = self.read(listed)
        except SealBroken:
            return []
        return read[1] if read else []

    def _block(self, block_id: str, records: Iterable[Record]) -> lines.Line:
        plain = bodies.pack({"records": [_form(record) for record in records]})
        sealed = self.keys.seal(lines.BLOCK, block_id, 1, plain, self.random)
        return lines.Line(lines.BLOCK, block_id, 1, self.keys.generation, sealed)


def block_records(body: dict[str, Any]) -> Iterator[Record]:
    """Read the records of an opened block. Raises SealBroken when it is none."""
    try:
        for form in body["records"]:
            at = form.get("at")
            yield Record(
                kind=form["kind"],
                id=form["id"],
                version=form["version"],
                commit=form["commit"],
                body=form.get("body", {}),
                tag=form.get("tag", ""),
                at=moment(at) if at else None,
            )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise SealBroken from None


def _form(record: Record) -> dict[str, Any]:
    form: dict[str, Any] = {"kind": record.kind, "id": record.id, "version": record.version, "commit": record.commit}
    if record.at is not None:
        return form | {"tag": record.tag, "at": rfc3339(record.at)}
    return form | {"body": record.body}
