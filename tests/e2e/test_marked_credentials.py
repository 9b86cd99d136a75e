"""A memory that its owner marks as a credential is masked in every version of it, wherever an answer shows one (B12, E31)."""

from tests.e2e.client import MEMORIES, Person

PHRASE = "The vault phrase is blue horse lake"


def test_what_is_marked_as_a_credential_is_told_by_no_earlier_version(ann: Person) -> None:
    made = ann.ok("POST", MEMORIES, {"content": PHRASE, "category": "knowledge"})
    path = f"{MEMORIES}/{made['id']}"
    ann.ok("PATCH", path, {"tags": ["#vault"]})
    before = ann.ok("GET", path)["updated_at"]
    marked = ann.ok("PATCH", path, {"category": "credential"})
    assert (marked["content"], marked["masked"]) == ("***", True)
    shown = [
        ann.call("GET", f"{path}/history"),
        ann.call("GET", MEMORIES, query={"as_of": before}),
        ann.call("GET", "/v1/export?history=true"),
        ann.call("POST", "/v1/forget", {"query": "horse", "dry_run": True}),
        ann.call("POST", "/v1/context", {"message": "What is the vault phrase?", "force": True}),
    ]
    assert [answer.status for answer in shown] == [200] * len(shown)
    assert [answer.text for answer in shown if "horse" in answer.text] == []
    assert [version["masked"] for version in shown[0].json["versions"]] == [True] * 3
    assert [memory["id"] for memory in shown[1].json["memories"]] == [made["id"]]
    assert ann.ok("POST", f"{path}/reveal")["content"] == PHRASE


def test_the_quote_of_a_learned_memory_goes_when_it_is_marked(ann: Person) -> None:
    ann.learn("记住这个：保险箱的暗语叫青山不改")
    (learned,) = ann.kept()
    assert "青山" in learned["origin"]["quote"]
    marked = ann.ok("PATCH", f"{MEMORIES}/{learned['id']}", {"category": "credential"})
    history = ann.call("GET", f"{MEMORIES}/{learned['id']}/history")
    assert marked["masked"]
    assert "青山" not in ann.call("GET", f"{MEMORIES}/{learned['id']}").text + history.text
