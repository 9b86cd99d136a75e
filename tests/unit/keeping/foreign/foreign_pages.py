"""Pages of foreign forms, read as one request reads them."""

import json
from datetime import UTC, datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from shared.domain.errors import Invalid
from shared.keeping.foreign.occasion import Occasion
from shared.keeping.foreign.reading import read
from shared.keeping.importing.nacre import Read
from shared.keeping.importing.records import Record
from shared.keeping.importing.thread import Thread

NOW = datetime(2026, 11, 30, 20, 0, tzinfo=UTC)
SHANGHAI = ZoneInfo("Asia/Shanghai")


def page(form: str, data: str | bytes, *, zone: tzinfo = SHANGHAI, before: int = 0, **keys: Any) -> Read:
    """Read a page of a file of which so many lines came before."""
    return read(form, data, Thread(lines=before), Occasion(NOW, zone, **keys))


def one(form: str, data: str | bytes, **more: Any) -> Record:
    """Read a page that holds one record and nothing wrong."""
    found = page(form, data, **more)
    assert found.refused == []
    (record,) = found.records
    return record


def refusals(found: Read) -> list[tuple[int, str, str | None]]:
    """Return line, reason and field of what is refused."""
    return [(refusal.line, str(refusal.reason), refusal.field) for refusal in found.refused]


def contents(found: Read) -> list[str]:
    """Return what the records say."""
    return [record.content for record in found.records]


def wrong(form: str, data: str | bytes, **more: Any) -> dict[str, str]:
    """Read a page that is refused as a whole; return the field and the problem."""
    with pytest.raises(Invalid) as refused:
        page(form, data, **more)
    (detail,) = refused.value.details or []
    assert isinstance(detail, dict)
    return dict(detail)


def jsonl(*rows: Any) -> str:
    """Return rows as JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
