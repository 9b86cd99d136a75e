"""Hostile and careless bodies: whatever is sent to whichever route, the answer has our shape, comes soon and is no fault of ours."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from local.stack import Stack
from tests.e2e.client import CONTEXT, CONVERSATIONS, MEMORIES, SEARCH, Answer, Person
from tests.e2e.faults import tidied

SIGNS = st.one_of(
    st.characters(exclude_categories=["Cs"]),
    st.sampled_from("\x00\x01\x1b\x7f\x85\xad\u0301\u200b\u200d\u202e\u2028\u2029\ufeff\ufffd\ufffe\U0001f469\U000e0041\U0010ffff٣①ﬁ＜<>&'\"\\%${}"),
    st.sampled_from("雨过敏 abcN#*-_/."),
)  # fmt: skip
TEXTS = st.one_of(
    st.text(SIGNS, max_size=40), st.sampled_from(["***", "null", "' OR 1=1", "{{7*7}}", "../..", "=cmd()", "\u202eabc"])
)
NUMBERS = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0, -1, 1, 1.0, -0.0, 10]),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda below: st.one_of(st.lists(below, max_size=4), st.dictionaries(TEXTS, below, max_size=4)),
    max_leaves=8,
)
FIELDS = {
    "content": TEXTS, "scope": st.sampled_from(["user", "project", "agent"]), "project": TEXTS, "agent": TEXTS, "importance": NUMBERS,
    "category": st.sampled_from(["knowledge", "credential", "decision"]), "tags": st.lists(TEXTS.map("#{}".format), max_size=25),
    "metadata": st.dictionaries(TEXTS, VALUES, max_size=6), "expires_at": TEXTS, "status": TEXTS, "query": TEXTS, "message": TEXTS,
    "limit": NUMBERS, "token_budget": NUMBERS, "trigger": st.sampled_from(["manual", "compaction"]), "preset": TEXTS,
    "explain": st.booleans(), "session_id": TEXTS, "version": NUMBERS, "time_zone": TEXTS, "retention_days": NUMBERS,
    "custom_keywords": st.fixed_dictionaries({}, optional={"zh": st.lists(TEXTS), "en": st.lists(TEXTS)}),
    "messages": st.lists(
        st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "assistant", "system", "tool"])},
            optional={"content": st.one_of(TEXTS, VALUES), "name": TEXTS, "tool_calls": VALUES, "at": TEXTS},
        ),
        max_size=4,
    ),
}  # fmt: skip
OF_ROUTES = [
    ("POST", MEMORIES, ("content", "scope", "project", "agent", "importance", "category", "tags", "metadata", "expires_at")),
    ("PATCH", f"{MEMORIES}/<id>", ("content", "importance", "category", "tags", "metadata", "expires_at", "status")),
    ("POST", f"{MEMORIES}/<id>/revert", ("version",)),
    ("POST", SEARCH, ("query", "project", "agent", "limit", "preset", "explain")),
    ("POST", CONTEXT, ("message", "project", "agent", "token_budget")),
    ("POST", CONVERSATIONS, ("messages", "trigger", "project", "agent", "session_id")),
    ("PATCH", "/v1/settings", ("time_zone", "retention_days", "custom_keywords")),
]  # fmt: skip
QUICK = settings(
    max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)


def right(answer: Answer) -> None:
    """The answer is ours, and no fault of ours."""
    assert answer.status < 500, answer.text
    assert answer.headers["content-type"] == "application/json" or answer.status == 204
    assert answer.headers["cache-control"] == "no-store"
    if answer.status >= 400:
        assert answer.code


@pytest.mark.parametrize(("method", "path", "fields"), OF_ROUTES)
def test_odd_values_in_every_field(stack: Stack, method: str, path: str, fields: tuple[str, ...]) -> None:
    person = Person(stack, "odd")
    made = person.add("a fact to change")

    @QUICK
    @given(st.data())
    def send(data: st.DataObject) -> None:
        chosen = data.draw(st.lists(st.sampled_from(fields), unique=True, min_size=1, max_size=len(fields)))
        body = {name: data.draw(st.one_of(FIELDS[name], VALUES)) for name in {*chosen, *fields[:1]}}
        right(person.call(method, path.replace("<id>", made["id"]), body))

    send()
    assert stack.wait_until_idle()
    assert stack.dead_letters() == 0
    right(person.call("GET", MEMORIES, query={"status": "all", "limit": 200}))
    right(person.call("POST", SEARCH, {"query": "a fact 雨", "project": "*"}))
    assert tidied(stack, person.sub)
    assert {task["status"] for task in person.ok("GET", "/v1/tasks", query={"limit": 200})["tasks"]} <= {"done"}


def test_what_was_taken_comes_back_sign_by_sign(stack: Stack) -> None:
    person = Person(stack, "exact")

    @QUICK
    @given(TEXTS, st.dictionaries(TEXTS, VALUES, max_size=3))
    def send(content: str, metadata: dict[str, Any]) -> None:
        answer = person.call("POST", MEMORIES, {"content": content, "metadata": metadata})
        right(answer)
        if answer.status == 201 and not answer.json["masked"]:
            kept = person.ok("GET", f"{MEMORIES}/{answer.json['id']}")
            assert (kept["content"], kept["metadata"]) == (content, metadata)
            person.ok("DELETE", f"{MEMORIES}/{answer.json['id']}")

    send()


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf{}", b'{"content":"\xff"}', b"null", b"[]", b'"x"', b"1e999", b"NaN",
        b'{"content":"a","content":"b"}', b'{"content":"\\ud800"}', b'{"content":"a"}}', b"[" * 100_000, b'{"a":' * 50_000,
        b'{"metadata":{"a":' + b"9" * 5_000 + b"}}", b'{"content":"' + b"a" * 5_000_000 + b'"}',
        b'{"metadata":{' + b",".join(b'"%d":1' % number for number in range(100_000)) + b"}}",
        b'{"tags":[' + b",".join(b'"#t%d"' % number for number in range(100_000)) + b"]}",
        b'{"content":"a","metadata":' + b'{"a":' * 40 + b"1" + b"}" * 40 + b"}",
        b'{"content":"a","__proto__":{},"constructor":1}', b"content=a", b"<xml/>",
    ],
    ids=lambda body: f"{body[:12]!r} {len(body)}",
)  # fmt: skip
@pytest.mark.parametrize("path", [MEMORIES, SEARCH, CONTEXT, CONVERSATIONS])
def test_bodies_that_are_none(ann: Person, path: str, body: bytes) -> None:
    answer = ann.call("POST", path, body)
    if path == CONTEXT and not body:  # no body is {} where every field may be left out
        assert answer.status == 200
        return
    assert 400 <= answer.status < 500
    assert answer.code
    assert len(answer.body) < 20_000, "an answer to a huge request is short"
    assert ann.ok("GET", "/v1/usage")["used_bytes"] == 0


@pytest.mark.parametrize(
    "path",
    [
        "/", "//", "/v1", "/v1/", "/v1//memories", "/V1/memories", "/v1/memories/", "/v1/memories/..%2f..", "/v1/memories/%00",
        "/v1/memories/%0d%0aX-Injected:1", "/v1/memories/%F0%9F%98%80", "/v1/memories/a%2Fb", "/v1/memories/.", "/v1/memories/;a=b",
        "/v1/memories/" + "0" * 26 + "/history/x", "/v1/memories/" + "a" * 5_000, "/v1/tasks/" + "0" * 27, "/v1/memories?limit=1&limit=2",
        "/v1/memories?limit=%31%00", "/v1/memories?x", "/v1/memories?=1", "/v1/memories?from=%FF", "/v1/memories?project=%00",
        "/v1/memories?" + "&".join(f"a{number}=1" for number in range(1_000)), "/v1/memories?cursor=" + "A" * 3_000,
    ],
)  # fmt: skip
def test_paths_and_queries_that_name_nothing(ann: Person, path: str) -> None:
    answer = ann.call("GET", path)
    assert 400 <= answer.status < 500, answer.text
    if "error" in answer.json:
        assert answer.code
    assert "x-injected" not in answer.headers


def test_many_memories_come_once_each_over_pages_of_any_size(stack: Stack) -> None:
    person = Person(stack, "many")
    for start in range(0, 80, 20):
        facts = "\n".join(
            f"We decided to use library {number} for module {number}." for number in range(start, start + 20)
        )
        assert person.learn(facts)["learned"]["inserted"] == 20
    for order in ("updated", "created"):
        for limit in (13, 200):
            seen = _pages(person, order=order, limit=limit)
            assert len(seen) == len(set(seen)) == 80
    first = person.ok("GET", MEMORIES, query={"limit": 50})
    for memory in first["memories"][:10]:
        person.ok("DELETE", f"{MEMORIES}/{memory['id']}")
    rest = _pages(person, limit=50, cursor=first["next_cursor"])
    assert len(rest) == len(set(rest)) == 30


def _pages(person: Person, **query: Any) -> list[str]:
    seen: list[str] = []
    while True:
        page = person.ok("GET", MEMORIES, query=query)
        seen += [memory["id"] for memory in page["memories"]]
        if page["next_cursor"] is None:
            return seen
        query["cursor"] = page["next_cursor"]


def test_json_is_written_so_that_every_reader_takes_it(ann: Person) -> None:
    ann.add("a\u2028b\x85\x7f\ufffe 😀", metadata={"n": 1e300, "s": "\u2029"})
    body = ann.call("GET", MEMORIES).body

    def refuse(name: str) -> None:
        raise AssertionError(name)

    assert json.loads(body.decode("utf-8", "strict"), parse_constant=refuse)["memories"]
