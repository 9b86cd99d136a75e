"""Adding and reading one memory through the real handler."""

import pytest

from tests.integration.service import Service


def test_a_memory_that_was_added_can_be_read_again(service: Service) -> None:
    answer = service.call(
        "POST", "/v1/memories", {"content": "我对花生过敏", "tags": ["#健康"], "metadata": {"来源": "聊天"}}
    )
    assert answer.status == 201
    assert answer.headers["ETag"] == '"1"'
    assert answer.headers["Location"] == f"/v1/memories/{answer.json['id']}"
    assert answer.headers["Cache-Control"] == "no-store"
    read = service.call("GET", f"/v1/memories/{answer.json['id']}")
    assert read.status == 200
    assert read.json == answer.json
    assert (read.json["content"], read.json["tags"], read.json["metadata"]) == (
        "我对花生过敏",
        ["#健康"],
        {"来源": "聊天"},
    )
    assert (read.json["category"], read.json["importance"], read.json["scope"]) == ("knowledge", 5, "user")


def test_nothing_that_was_written_can_be_read_from_the_stored_bytes(service: Service) -> None:
    service.add("CANARY-7f3 lives in 杭州", scope="project", project="CANARY-project", tags=["#CANARY-tag"])
    stored = service.raw_bytes()
    assert len(stored) > 500
    for word in (b"CANARY", "杭州".encode()):
        assert word not in stored


def test_a_secret_is_masked_and_makes_a_credential(service: Service) -> None:
    made = service.add("数据库密码: hunter2Xy!", category="knowledge", importance=3)
    assert made["content"] == "数据库密码: ***"
    assert (made["category"], made["importance"], made["masked"]) == ("credential", 10, True)


@pytest.mark.parametrize("user", ["bob", "ANN", "ann "])
def test_another_persons_memory_is_not_there(service: Service, user: str) -> None:
    made = service.add("I like tea")
    answer = service.call("GET", f"/v1/memories/{made['id']}", user=user)
    assert (answer.status, answer.code) == (404, "not_found")


def test_the_same_text_twice_is_refused_and_the_first_is_named(service: Service) -> None:
    made = service.add("I like tea")
    answer = service.call("POST", "/v1/memories", {"content": " I  like tea "})
    assert (answer.status, answer.code) == (409, "duplicate")
    assert answer.json["error"]["details"] == {"id": made["id"]}
