"""What happens while nobody looks: schedules, silent sessions, writers, and a lost table (D23 to D29, F40, F42)."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from local.stack import Stack
from shared.keeping.maintenance.schedules import next_run
from tests.e2e.client import MEMORIES, Person
from tests.e2e.test_consolidation_rules import ENOUGH, consolidations, learned
from tests.e2e.test_maintenance import everything, exported, later, night_shift, tended, wipe
from tests.e2e.test_persona import AGENTS, PERSONA, REFRESH, SAID, SUGGESTIONS

TONGUES = pytest.mark.parametrize("tongue", ["en", "zh"])
SCHEDULE = {
    "en": {"schedule": "every day at 3am", "time_zone": "America/New_York"},
    "zh": {"schedule": "每天凌晨3点", "time_zone": "Asia/Shanghai"},
}
SAME = {
    "en": ("Remember this: ", "I have read novel number {}", "I like green tea", "I really like green tea."),
    "zh": ("请记住：", "我读过第 {} 本小说", "我喜欢喝绿茶", "我非常喜欢喝绿茶。"),
}
SLOW = {
    "en": ("The login page is slow", "The login page is really slow."),
    "zh": ("登录页面很慢", "登录页面非常慢。"),
}
NOTE = {"en": ("Remember this: the port is 8443.", "the port is 8443."), "zh": ("记住这个：我喜欢喝茶", "我喜欢喝茶")}


def languages(person: Person) -> list[str]:
    found: list[str] = person.ok("GET", PERSONA)["structured"]["languages"]
    return found


@TONGUES
def test_a_schedule_in_words_makes_the_persona_at_its_hour_of_the_owners_zone(
    stack: Stack, ann: Person, tongue: str
) -> None:
    ann.add(SAID[tongue]["languages"], category="preference")
    assert ann.call("PATCH", "/v1/settings", {"schedule": "whenever you like"}).status == 422
    ann.ok("PATCH", "/v1/settings", SCHEDULE[tongue])
    night_shift(stack)
    assert languages(ann) == []
    hour = next_run(SCHEDULE[tongue]["schedule"], SCHEDULE[tongue]["time_zone"], datetime.now(UTC))
    assert hour is not None
    wait = (hour - datetime.now(UTC)).total_seconds()
    with later(seconds=wait - 60):
        night_shift(stack)
        assert languages(ann) == []
    with later(seconds=wait + 5):
        night_shift(stack)
        assert languages(ann) == ["TypeScript"]
        made = ann.ok("GET", PERSONA)
        night_shift(stack)
        assert ann.ok("GET", PERSONA) == made


@TONGUES
def test_a_session_that_falls_silent_becomes_memories_by_maintenance(stack: Stack, ann: Person, tongue: str) -> None:
    said, kept = NOTE[tongue]
    ann.ok("POST", "/v1/sessions", {"project": "商店"})
    assert ann.ok("POST", "/v1/sessions/current/notes", {"user_message": said})["saved"]
    with later(minutes=29):
        night_shift(stack)
        assert ann.ok("GET", "/v1/sessions/current")["status"] == "open"
    with later(minutes=31):
        night_shift(stack)
        assert ann.ok("GET", "/v1/sessions/current")["status"] == "none"
        assert ann.texts() == [kept]
        night_shift(stack)
        assert ann.texts() == [kept]


def with_everything(person: Person, tongue: str) -> dict[str, Any]:
    """Somebody with consolidated memories, a persona, an accepted and a dismissed suggestion, and scenes; return the consolidation."""
    wish, novel, *same = SAME[tongue]
    learned(person, *(wish + novel.format(number) for number in range(ENOUGH)), *(wish + text for text in same))
    for agent in ("pilot", "copilot"):
        for text in AGENTS[tongue]:
            person.add(text, scope="agent", agent=agent, category="experience")
    for text in SAID[tongue].values():
        person.add(text, category="preference")
    person.ok("POST", "/v1/scenes/switch", {"project": "地图/a"})
    person.ok("PATCH", "/v1/scene", {"name": "Map", "summary": "说明"}, query={"project": "地图/a"})
    person.ok("POST", REFRESH)
    tended(person)
    for number, one in enumerate(person.ok("GET", SUGGESTIONS)["suggestions"]):
        person.ok("PATCH", f"{SUGGESTIONS}/{one['id']}", {"status": ("accepted", "dismissed")[number % 2]})
    tended(person)
    (task,) = consolidations(person)
    assert task["consolidation"]["merged"] == 1
    return task


def known(person: Person) -> dict[str, Any]:
    """What everything() does not ask for."""
    return {
        "persona": person.ok("GET", PERSONA),
        "suggestions": person.ok("GET", SUGGESTIONS),
        "active": person.ok("GET", "/v1/scene", query={"project": "地图/a"}),
        "told": person.context("so be it", new_session=False, agent="pilot")["text"],
    }


@TONGUES
def test_all_that_maintenance_made_comes_back_byte_for_byte_after_the_table_was_lost(
    stack: Stack, ann: Person, tongue: str
) -> None:
    task = with_everything(ann, tongue)
    taken_along = exported(ann)
    before = everything(ann), known(ann)
    assert {one["status"] for one in before[1]["suggestions"]["suggestions"]} == {"accepted", "dismissed"}
    assert before[1]["persona"]["statements"]
    wipe(stack, ann.sub)
    stack.functions.reload()
    tended(ann)
    assert exported(ann) == taken_along
    assert (everything(ann), known(ann)) == before
    assert ann.call("POST", f"/v1/tasks/{task['id']}/undo").status == 404, "tasks are lost with a table, as docs say"
    again = ann.call("POST", "/v1/memories", {"content": SAME[tongue][2]})
    assert (again.status, again.code) == (409, "duplicate"), "old words lead to the memory that replaced them"
    with later(days=7, hours=1):
        tended(ann)
        tended(ann)
        usage = ann.ok("GET", "/v1/usage")
        assert usage["memories"] == len(ann.kept(status="all")), "what was replaced is gone for good"


def noted_in_project(person: Person, project: str, *points: str) -> None:
    """Learn these key points as facts of a project, by the notes of one session."""
    person.ok("POST", "/v1/sessions", {"project": project})
    for start in range(0, len(points), 20):
        sent = {"user_message": f"Notes from {start}", "key_info": points[start : start + 20]}
        assert person.ok("POST", "/v1/sessions/current/notes", sent)["saved"]
    task = person.task(person.ok("POST", "/v1/sessions/current/finalize", {})["task_id"])
    assert task["learned"]["inserted"] == len(points)


@TONGUES
def test_a_project_goes_with_what_was_consolidated_in_it(ann: Person, tongue: str) -> None:
    novel, same = SAME[tongue][1], SLOW[tongue]
    noted_in_project(ann, "地图/a", *same, *(novel.format(number) for number in range(60)))
    tended(ann)
    (task,) = consolidations(ann)
    assert (task["consolidation"]["scope"], task["consolidation"]["merged"]) == ("project", 1)
    refused = ann.call("DELETE", "/v1/scenes/%E5%9C%B0%E5%9B%BE%2Fa")
    assert refused.json["error"]["details"] == {"memories": 61}
    ann.ok("DELETE", "/v1/scenes/%E5%9C%B0%E5%9B%BE%2Fa", query={"confirm": "true"})
    undone = ann.ok("POST", f"/v1/tasks/{task['id']}/undo")["consolidation"]
    assert (undone["undone"], undone["stayed"]) == (0, 1)
    assert ann.texts(status="all") == []
    with later(hours=2):
        tended(ann)
        usage = ann.ok("GET", "/v1/usage")
        assert (usage["memories"], usage["active"]) == (0, 0)
    assert ann.add(same[0], scope="project", project="地图/a")["content"] == same[0]


@dataclass
class Writer:
    """Somebody's client: adds, edits and deletes its own memories, and remembers what was answered."""

    person: Person
    name: str
    kept: dict[str, str] = field(default_factory=dict)

    def write(self, times: int) -> None:
        for number in range(times):
            text = f"{self.name} 第 {number} 条: the kiln runs at {number} degrees"
            known = next(iter(self.kept), None)
            if number % 5 == 3 and known:
                self.person.ok("PATCH", f"{MEMORIES}/{known}", {"content": f"{text}, edited"})
                self.kept[known] = f"{text}, edited"
            elif number % 5 == 4 and known:
                self.person.ok("DELETE", f"{MEMORIES}/{known}")
                del self.kept[known]
            else:
                self.kept[self.person.add(text)["id"]] = text


def test_fifty_writes_over_http_during_maintenance_lose_and_resurrect_nothing(stack: Stack, ann: Person) -> None:
    writers = [Writer(ann, f"client{number}") for number in range(5)]
    with ThreadPoolExecutor(len(writers)) as pool:
        done = [pool.submit(writer.write, 10) for writer in writers]
        while not all(one.done() for one in done):
            tended(ann)
        for one in done:
            one.result()
    kept = sorted(text for writer in writers for text in writer.kept.values())
    assert sorted(ann.texts(status="all")) == kept
    with later(hours=2):
        tended(ann)
    with later(hours=4):
        tended(ann)
        assert sorted(ann.texts(status="all")) == kept
        assert ann.ok("GET", "/v1/usage")["memories"] == len(kept)
    wipe(stack, ann.sub)
    stack.functions.reload()
    tended(ann)
    assert sorted(ann.texts(status="all")) == kept
