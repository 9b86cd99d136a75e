"""Lists, settings, usage and projects through the real handler."""

from typing import Any

import pytest

from tests.integration.service import Service

SETTINGS = "/v1/settings"
DEFAULTS: dict[str, Any] = {
    "version": 0,
    "enabled": True,
    "auto_capture": False,
    "auto_retrieve": True,
    "language": None,
    "credentials_in_context": False,
    "custom_keywords": {"zh": [], "en": []},
    "excluded_keywords": {"zh": [], "en": []},
    "retention_days": -1,
    "max_results": 10,
    "search_days": -1,
    "schedule": None,
    "time_zone": "UTC",
}


def test_pages_follow_each_other_by_cursor(service: Service) -> None:
    made = [service.add(f"fact {number}")["content"] for number in range(7)]
    found: list[str] = []
    query = {"limit": "3"}
    for _ in range(3):
        page = service.call("GET", "/v1/memories", query=query).json
        found += [memory["content"] for memory in page["memories"]]
        query = {"limit": "3", "cursor": page["next_cursor"]}
    assert found == made[::-1]
    assert page["next_cursor"] is None


def test_a_cursor_of_another_list_or_person_is_refused(service: Service) -> None:
    for user in ("ann", "bob"):
        for number in range(3):
            service.add(f"fact {number}", user=user)
    cursor = service.call("GET", "/v1/memories", query={"limit": "1"}).json["next_cursor"]
    for user, query in (
        ("bob", {}),
        ("new", {}),
        ("ann", {"status": "all"}),
        ("ann", {"order": "created"}),
        ("ann", {"from": "2020-01-01T00:00:00Z"}),
    ):
        answer = service.call("GET", "/v1/memories", user=user, query=query | {"cursor": cursor})
        assert (answer.status, answer.code) == (422, "invalid_cursor"), (user, query)
    assert service.call("GET", "/v1/projects", query={"cursor": cursor}).code == "invalid_cursor"
    assert service.call("GET", "/v1/memories", query={"limit": "2", "cursor": cursor}).status == 200


def test_filters_arrive_as_they_were_sent(service: Service) -> None:
    project = "商店, a+b & c/d=é%20"
    service.add("in the shop", scope="project", project=project, category="decision")
    service.add("mine")
    service.add("of research", scope="agent", agent="研究", category="experience")
    for query, expected in (
        ({"project": project}, ["in the shop"]),
        ({"scope": "user"}, ["mine"]),
        ({"agent": "研究"}, ["of research"]),
        ({"uri": "agent://研究/agent/experience"}, ["of research"]),
        ({"category": "decision", "source": "manual", "status": "all"}, ["in the shop"]),
        ({"status": "dismissed"}, []),
        ({"to": "2020-01-01T00:00:00+08:00"}, []),
    ):
        page = service.call("GET", "/v1/memories", query=query).json
        assert [memory["content"] for memory in page["memories"]] == expected, query


@pytest.mark.parametrize(
    "query",
    [
        {"scope": "CANARY"},
        {"status": "CANARY"},
        {"category": ""},
        {"source": "by hand"},
        {"order": "CANARY"},
        {"from": "yesterday"},
        {"to": "2026-01-01"},
        {"from": "2026-01-02T00:00:00Z", "to": "2026-01-01T00:00:00Z"},
        {"project": ""},
        {"project": "a", "agent": "b"},
        {"uri": "CANARY"},
        {"uri": "agent://a", "category": "event"},
        {"cursor": "CANARY!"},
        {"cursor": ""},
    ],
)
def test_a_filter_that_is_none_is_refused(service: Service, query: dict[str, str]) -> None:
    answer = service.call("GET", "/v1/memories", query=query)
    assert answer.status == 422
    assert "CANARY" not in answer.text


def test_two_names_that_look_alike_are_one_project(service: Service) -> None:
    service.add("one", scope="project", project="cafe\u0301")
    service.add("two", scope="project", project="caf\u00e9")
    projects = service.call("GET", "/v1/projects").json["projects"]
    assert [(one["project"], one["memories"]) for one in projects] == [("café", 2)]


def test_settings_are_defaults_until_changed_and_keep_what_is_not_sent(service: Service) -> None:
    answer = service.call("GET", SETTINGS)
    assert (answer.json, answer.headers["ETag"]) == (DEFAULTS, '"0"')
    sent: dict[str, Any] = {"auto_capture": True, "custom_keywords": {"zh": ["选型 "]}, "time_zone": "Asia/Shanghai"}
    answer = service.call("PATCH", SETTINGS, sent, headers={"If-Match": '"0"'})
    expected = DEFAULTS | sent | {"version": 1, "custom_keywords": {"zh": ["选型"], "en": []}}
    assert (answer.status, answer.json, answer.headers["ETag"]) == (200, expected, '"1"')
    assert service.call("PATCH", SETTINGS, {"enabled": False}, headers={"If-Match": '"0"'}).status == 412
    assert service.call("GET", SETTINGS).json == expected
    assert service.call("GET", SETTINGS, user="bob").json == DEFAULTS
    assert "选型".encode() not in service.raw_bytes()


@pytest.mark.parametrize(
    "wrong",
    [
        {"enabled": "yes"},
        {"enabled": 1},
        {"language": "fr"},
        {"retention_days": 0},
        {"retention_days": -2},
        {"retention_days": 36501},
        {"retention_days": True},
        {"max_results": 0},
        {"max_results": 51},
        {"search_days": 1.5},
        {"schedule": "whenever you like"},
        {"time_zone": "Mars/Olympus"},
        {"time_zone": "../../etc/passwd"},
        {"time_zone": "Asia"},
        {"time_zone": ""},
        {"custom_keywords": {"fr": []}},
        {"custom_keywords": {"zh": ["\u200b"]}},
        {"custom_keywords": {"zh": ["x" * 65]}},
        {"excluded_keywords": {"en": ["x"] * 101}},
        {"version": 3},
        {"colour": "red"},
    ],
)
def test_a_setting_that_cannot_be_is_refused_by_name(service: Service, wrong: dict[str, Any]) -> None:
    answer = service.call("PATCH", SETTINGS, wrong)
    assert (answer.status, answer.code) == (422, "invalid")
    assert answer.json["error"]["details"][0]["field"].partition(".")[0] == next(iter(wrong))


def test_usage_counts_against_quota_and_limit(service: Service) -> None:
    service.add("a fact", scope="project", project="shop")
    usage = service.call("GET", "/v1/usage").json
    assert (usage["memories"], usage["active"], usage["active_limit"], usage["limit_bytes"]) == (1, 1, 200, 100_000_000)
    assert usage["used_bytes"] == usage["journal_bytes"] + usage["index_bytes"] + usage["table_bytes"] > 0


def test_a_full_store_says_how_to_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.integration.service import started

    with started(monkeypatch, QUOTA_MEGABYTES="0") as service:
        answer = service.call("POST", "/v1/memories", {"content": "a fact"})
    assert (answer.status, answer.code) == (507, "quota_exceeded")
    assert set(answer.json["error"]["details"]) == {"used_bytes", "limit_bytes", "suggestion"}
