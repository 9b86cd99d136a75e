"""Editing, dismissing, reverting, deleting and revealing through the real handler."""

import pytest

from tests.integration.service import Service


def test_an_edit_keeps_what_it_does_not_name_and_makes_a_new_version(service: Service) -> None:
    made = service.add("I like tea", tags=["#drink"], metadata={"a": 1}, category="preference", importance=7)
    answer = service.call("PATCH", f"/v1/memories/{made['id']}", {"content": "I like green tea"})
    assert (answer.status, answer.headers["ETag"]) == (200, '"2"')
    changed = {"content": "I like green tea", "version": 2, "updated_at": answer.json["updated_at"]}
    assert answer.json == made | changed
    assert service.call("GET", f"/v1/memories/{made['id']}").json == answer.json


def test_an_edit_that_changes_nothing_makes_no_version(service: Service) -> None:
    made = service.add("I like tea", tags=["#drink"])
    for same in ({}, {"content": "I like tea"}, {"tags": ["#drink", "#drink"]}, {"status": "active"}):
        answer = service.call("PATCH", f"/v1/memories/{made['id']}", same)
        assert (answer.status, answer.json["version"]) == (200, 1)


def test_an_edit_to_the_text_of_another_memory_is_refused(service: Service) -> None:
    first, second = service.add("I like tea"), service.add("I like coffee")
    answer = service.call("PATCH", f"/v1/memories/{second['id']}", {"content": "I like tea"})
    assert (answer.status, answer.code, answer.json["error"]["details"]) == (409, "duplicate", {"id": first["id"]})
    assert service.call("GET", f"/v1/memories/{second['id']}").json == second


@pytest.mark.parametrize(
    ("tag", "status"),
    [('"1"', 200), ("*", 200), ('"7", "1"', 200), ('"2"', 412), ('W/"1"', 412), ('"abc"', 412), ("1", 422), ("", 422)],
)
def test_if_match_lets_only_its_versions_through(service: Service, tag: str, status: int) -> None:
    made = service.add("I like tea")
    path = f"/v1/memories/{made['id']}"
    assert service.call("PATCH", path, {"importance": 9}, headers={"If-Match": tag}).status == status
    made = service.add("I like coffee")
    assert service.call("DELETE", f"/v1/memories/{made['id']}", headers={"If-Match": tag}).status == (
        204 if status == 200 else status
    )


def test_editing_the_text_of_a_dismissed_memory_leaves_it_dismissed(service: Service) -> None:
    made = service.add("我喜欢喝茶")
    path = f"/v1/memories/{made['id']}"
    assert service.call("PATCH", path, {"status": "dismissed"}).json["status"] == "dismissed"
    assert service.call("PATCH", path, {"content": "我喜欢喝绿茶"}).json["status"] == "dismissed"
    assert service.call("PATCH", path, {"status": "active"}).json["status"] == "active"
    assert service.call("PATCH", path, {"status": "archived"}).status == 422


def test_the_mask_never_overwrites_a_secret(service: Service) -> None:
    made = service.add("数据库密码: hunter2Xy!")
    path = f"/v1/memories/{made['id']}"
    answer = service.call("PATCH", path, {"content": "数据库密码: ***"})
    assert (answer.status, answer.json["error"]["details"][0]["field"]) == (422, "content")
    assert service.call("POST", f"{path}/reveal").json == {"id": made["id"], "content": "数据库密码: hunter2Xy!"}


def test_a_credential_stays_one_while_it_holds_a_secret(service: Service) -> None:
    made = service.add("password: hunter2Xy!")
    path = f"/v1/memories/{made['id']}"
    assert service.call("PATCH", path, {"category": "knowledge"}).status == 422
    assert service.call("PATCH", path, {"importance": 3}).status == 422
    freed = service.call(
        "PATCH", path, {"content": "The password is kept by Kim", "category": "knowledge", "importance": 4}
    )
    assert (freed.status, freed.json["category"], freed.json["importance"], freed.json["masked"]) == (
        200,
        "knowledge",
        4,
        False,
    )


def test_a_memory_called_a_credential_is_masked_whole(service: Service) -> None:
    made = service.add("芝麻开门吧", category="knowledge")
    answer = service.call("PATCH", f"/v1/memories/{made['id']}", {"category": "credential"})
    assert (answer.json["content"], answer.json["importance"], answer.json["masked"]) == ("***", 10, True)
    assert service.call("POST", f"/v1/memories/{made['id']}/reveal").json["content"] == "芝麻开门吧"


def test_a_secret_in_a_new_text_is_cut_out(service: Service) -> None:
    made = service.add("The deploy token is kept by Kim", importance=4)
    answer = service.call("PATCH", f"/v1/memories/{made['id']}", {"content": "password: hunter2Xy!", "importance": 4})
    assert (answer.json["content"], answer.json["category"], answer.json["importance"]) == (
        "password: ***",
        "credential",
        10,
    )
    assert b"hunter2Xy" not in service.raw_bytes()


def test_a_deleted_memory_is_gone_and_may_be_added_again(service: Service) -> None:
    made = service.add("I like tea")
    path = f"/v1/memories/{made['id']}"
    answer = service.call("DELETE", path)
    assert (answer.status, answer.text) == (204, "")
    for method in ("GET", "DELETE"):
        assert service.call(method, path).status == 404
    assert service.call("PATCH", path, {"importance": 2}).status == 404
    assert service.add("I like tea")["id"] != made["id"]


def test_history_shows_every_version_masked_and_revert_brings_one_back(service: Service) -> None:
    made = service.add("password: hunter2Xy!", tags=["#one"])
    path = f"/v1/memories/{made['id']}"
    service.call("PATCH", path, {"content": "Ask Kim for it", "category": "contact", "importance": 3, "tags": []})
    service.call("PATCH", path, {"status": "dismissed"})
    versions = service.call("GET", f"{path}/history").json["versions"]
    assert [(v["version"], v["content"], v["status"]) for v in versions] == [
        (3, "Ask Kim for it", "dismissed"),
        (2, "Ask Kim for it", "active"),
        (1, "password: ***", "active"),
    ]
    answer = service.call("POST", f"{path}/revert", {"version": 1})
    assert (answer.status, answer.headers["ETag"]) == (200, '"4"')
    back = answer.json
    assert (back["content"], back["category"], back["importance"], back["tags"]) == (
        "password: ***",
        "credential",
        10,
        ["#one"],
    )
    assert back["status"] == "dismissed"
    assert service.call("POST", f"{path}/reveal").json["content"] == "password: hunter2Xy!"
    never = service.call("POST", f"{path}/revert", {"version": 9})
    assert (never.status, never.json["error"]["message"]) == (
        404,
        "There is no such version, or it is not kept any more.",
    )
    assert service.call("POST", f"{path}/revert", {"version": 4}).json["version"] == 4


def test_a_reveal_is_in_the_owners_audit_list_before_it_is_answered(service: Service) -> None:
    made = service.add("password: hunter2Xy!")
    assert service.call("GET", "/v1/audit").json == {"entries": [], "next_cursor": None, "damaged": 0}
    service.call("POST", f"/v1/memories/{made['id']}/reveal")
    service.call("POST", f"/v1/memories/{made['id']}/reveal")
    first = service.call("GET", "/v1/audit", query={"limit": "1"}).json
    assert [(e["by"], e["action"], e["memory_id"]) for e in first["entries"]] == [("owner", "reveal", made["id"])]
    second = service.call("GET", "/v1/audit", query={"limit": "1", "cursor": first["next_cursor"]}).json
    assert second["entries"][0]["id"] < first["entries"][0]["id"]
    assert service.call("GET", "/v1/audit", user="bob").json["entries"] == []


def test_a_restored_memory_counts_against_the_active_limit(service_of_two: Service) -> None:
    service = service_of_two
    first = service.add("one thing")
    service.call("PATCH", f"/v1/memories/{first['id']}", {"status": "dismissed"})
    service.add("another thing")
    service.add("a third thing")
    answer = service.call("PATCH", f"/v1/memories/{first['id']}", {"status": "active"})
    assert (answer.status, answer.code, answer.json["error"]["details"]) == (409, "active_limit_reached", {"limit": 2})
    assert service.call("POST", "/v1/memories", {"content": "a fourth"}).code == "active_limit_reached"
