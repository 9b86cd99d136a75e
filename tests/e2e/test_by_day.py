"""By day and by moment over real HTTP: days that have memories, lists of a day, and what was true at a moment."""

import json
from datetime import UTC, datetime
from urllib.parse import quote
from zoneinfo import ZoneInfo

import pytest

from tests.e2e.client import MEMORIES, Person

DAYS = "/v1/days"


@pytest.mark.parametrize("zone", ["UTC", "Asia/Shanghai", "America/Los_Angeles"])
def test_today_is_the_owners_today(ann: Person, zone: str) -> None:
    ann.ok("PATCH", "/v1/settings", {"time_zone": zone})
    before = datetime.now(UTC).astimezone(ZoneInfo(zone)).date().isoformat()
    ann.add("我对花生过敏")
    ann.add("The deploy day is Monday", scope="project", project="atlas")
    after = datetime.now(UTC).astimezone(ZoneInfo(zone)).date().isoformat()
    found = ann.ok("GET", DAYS)
    assert found["time_zone"] == zone
    assert sum(day["count"] for day in found["days"]) == 2
    assert {day["date"] for day in found["days"]} <= {before, after}
    assert sum(day["count"] for day in ann.ok("GET", DAYS, query={"project": "atlas"})["days"]) == 1
    ann.maintain()
    assert ann.ok("GET", DAYS) == found
    assert len(ann.kept(last_days=2)) == 2
    listed = [memory["content"] for day in found["days"] for memory in ann.kept(date=day["date"])]
    assert sorted(listed) == sorted(ann.texts())
    assert ann.kept(date="2001-01-01") == []


def test_a_day_means_the_same_in_days_in_lists_and_to_forget_though_a_memory_was_edited_since(ann: Person) -> None:
    line = {"kind": "memory", "content": "Women's day", "scope": "user", "created_at": "2026-03-08T12:00:00Z"}
    ann.ok("POST", "/v1/import", {"data": json.dumps(line)})
    ann.maintain()
    (memory,) = ann.kept()
    ann.ok("PATCH", f"{MEMORIES}/{memory['id']}", {"importance": 9})
    assert ann.ok("GET", DAYS)["days"] == [{"date": "2026-03-08", "count": 1}]
    assert ann.texts(date="2026-03-08") == ["Women's day"]
    assert ann.texts(date="2026-03-08", order="updated") == []
    assert ann.texts(last_days=1, order="updated") == ["Women's day"]
    assert ann.ok("POST", "/v1/forget", {"date": "2026-03-08", "dry_run": True})["count"] == 1


def test_a_day_that_never_was_has_no_memories(ann: Person) -> None:
    ann.ok("PATCH", "/v1/settings", {"time_zone": "Pacific/Apia"})
    memory = ann.add("something")
    never = {"date": "2011-12-30"}
    assert ann.kept(**never) == ann.kept(**never, order="updated") == []
    assert ann.kept(**never, as_of=memory["updated_at"]) == []
    assert ann.ok("GET", DAYS, query={"from": "2011-12-30", "to": "2011-12-30"})["days"] == []
    assert ann.ok("POST", "/v1/forget", {**never, "dry_run": True})["count"] == 0


def test_what_was_true_at_a_moment_is_shown_in_the_words_of_then(ann: Person) -> None:
    memory = ann.add("部署日是星期一")
    then = ann.ok("GET", f"{MEMORIES}/{memory['id']}")["updated_at"]
    ann.ok("PATCH", f"{MEMORIES}/{memory['id']}", {"content": "部署日是星期二"})
    ann.add("Added later")
    assert ann.texts(as_of=then) == ["部署日是星期一"]
    assert sorted(ann.texts()) == ["Added later", "部署日是星期二"]
    ann.maintain()
    assert ann.texts(as_of=then) == ["部署日是星期一"]


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        (DAYS, {"from": "2026-02-30"}, "from"),
        (DAYS, {"from": "2026-03-02", "to": "2026-03-01"}, "to"),
        (DAYS, {"day": "2026-03-02"}, "day"),
        (MEMORIES, {"date": "2026-03-02", "last_days": "2"}, "date"),
        (MEMORIES, {"last_days": "0"}, "last_days"),
        (MEMORIES, {"as_of": "2999-01-01T00:00:00Z"}, "as_of"),
    ],
)
def test_days_and_moments_that_cannot_be_are_refused(ann: Person, path: str, query: dict[str, str], field: str) -> None:
    ann.add("something")
    answer = ann.call("GET", path, query=query)
    assert answer.status == 422, answer.text
    assert answer.fields == [field]


@pytest.mark.parametrize("day", ["today", "2026-12-01T00:00:00Z", "1764547200", " 2026-12-01", "2026-02-30", ""])
@pytest.mark.parametrize("place", [f"{DAYS}?from=", f"{DAYS}?to=", "/v1/memories?date="])
def test_only_a_day_is_a_day(ann: Person, place: str, day: str) -> None:
    answer = ann.call("GET", place + quote(day))
    assert (answer.status, answer.json["error"]["details"][0]["problem"]) == (422, "Write a day such as 2026-11-30.")
