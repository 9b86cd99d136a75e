"""`python -m benchmarks.retrieval` on sets made here: its figures by hand, what it says of broken sets, and what it compares with."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from benchmarks import retrieval_baselines
from benchmarks.retrieval import main
from benchmarks.retrieval_ablations import CHOICES, ablations
from benchmarks.retrieval_product import figures, product
from benchmarks.retrieval_sets import IllFormed, Question, folders, read
from benchmarks.retrieval_twins import TWINS, current_first
from benchmarks.retrieval_versions import APART, pairs
from shared.recall.ranking import DEFAULT
from shared.text import tokens

DOCS: list[dict[str, Any]] = [
    {
        "id": "a",
        "user": "ann",
        "text": "Ada drinks green tea from Fuzhou every day since 2019",
        "ts": "2026-01-05T09:00:00",
    },
    {"id": "b", "user": "ann", "text": "Ada moved to Lyon with her two cats last summer", "ts": "2026-02-05T09:00:00Z"},
    {"id": "a", "user": "bo", "text": "小波每天早上六点去公园跑步，坚持了三年", "ts": None},
    {"id": "c", "user": "bo", "text": "小波的手机密码管理器换成了开源的", "ts": None},
]
QUERIES: list[dict[str, Any]] = [
    {
        "id": "1",
        "user": "ann",
        "query": "What tea does Ada drink?",
        "ts": "2026-05-05T09:00:00",
        "cat": "x",
        "rel": ["a"],
    },
    {"id": "2", "user": "ann", "query": "Where did Ada move?", "ts": None, "rel": ["b"]},
    {"id": "3", "user": "bo", "query": "小波几点去公园？", "ts": None, "rel": ["a"]},
]


def lay(folder: Path, docs: list[Any] = DOCS, queries: list[Any] = QUERIES) -> Path:
    """Write a set."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("docs.jsonl", docs), ("queries.jsonl", queries)):
        lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
        (folder / name).write_text("\n".join(lines) + "\n", "utf-8")
    return folder


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert main(arguments) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_one_line_is_printed_for_each_set_of_a_folder_or_for_the_folder_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lay(tmp_path / "one")
    lay(tmp_path / "two")
    both = printed(capsys, "--data", str(tmp_path))
    (one,) = printed(capsys, "--data", str(tmp_path / "one"))
    assert [line["set"] for line in both] == ["one", "two"]
    assert list(one) == ["set", "memories", "queries", "recall@5", "recall@10", "ndcg@10", "mrr", "queries_per_second"]
    assert (one["memories"], one["queries"], one["ndcg@10"], one["mrr"]) == (4, 3, 1.0, 1.0)
    assert one["queries_per_second"] > 0


def test_figures_are_what_their_definitions_say(tmp_path: Path) -> None:
    question = Question("ann", "?", read(lay(tmp_path))[1][0].now, frozenset({"x", "y"}))
    found = ["o", "x", *"abcdefg", "y", "z"]
    measured = figures([question], lambda _: found)
    assert (measured["recall@5"], measured["recall@10"], measured["mrr"]) == (0.5, 1.0, 0.5)
    ideal = 1 + 1 / math.log2(3)
    assert measured["ndcg@10"] == round((1 / math.log2(3) + 1 / math.log2(11)) / ideal, 4)
    many = Question("ann", "?", question.now, frozenset(map(str, range(20))))
    assert figures([many], lambda _: [str(place) for place in range(10)])["ndcg@10"] == 1.0
    assert figures([many], lambda _: [])["mrr"] == 0.0


@pytest.mark.parametrize(
    ("docs", "queries", "said"),
    [
        ([], QUERIES, "docs.jsonl: is empty"),
        (DOCS, [], "queries.jsonl: is empty"),
        (["{"], QUERIES, "docs.jsonl, line 1: Invalid JSON"),
        ([DOCS[0], {"id": "x", "user": "ann"}], QUERIES, "docs.jsonl, line 2: text: Field required"),
        ([*DOCS, DOCS[0]], QUERIES, "docs.jsonl, line 5: the id is there twice"),
        ([{**DOCS[0], "ts": "1920-01-01"}], QUERIES, "docs.jsonl, line 1: ts is outside"),
        ([{**DOCS[0], "ts": "soon"}], QUERIES, "docs.jsonl, line 1: ts: Input should be a valid datetime"),
        (DOCS, [{**QUERIES[0], "rel": ["c"]}], "queries.jsonl, line 1: rel names an id that the user has no memory of"),
        (DOCS, [{**QUERIES[0], "rel": []}], "no question has an answer"),
    ],
)
def test_a_broken_set_is_refused_with_its_file_and_line(
    docs: list[Any], queries: list[Any], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", str(lay(tmp_path, docs, queries))]) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.out == ""


def test_a_folder_without_a_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IllFormed, match=r"there is no queries\.jsonl"):
        folders(tmp_path)


def test_questions_without_an_answer_are_left_out_and_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, questions = read(lay(tmp_path, DOCS, [*QUERIES, {**QUERIES[0], "rel": []}]))
    assert len(questions) == len(QUERIES)
    assert "1 questions have no answer" in capsys.readouterr().err


def test_sqlite_is_measured_beside_ours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ours, fts5 = printed(capsys, "--data", str(lay(tmp_path)), "--baseline", "fts5")
    assert ours["engine"] == "nacre"
    assert fts5["engine"].startswith("SQLite FTS5, ")
    assert 0 < fts5["ndcg@10"] <= ours["ndcg@10"] == 1.0


def test_a_library_that_is_missing_is_named_with_the_command_that_installs_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(retrieval_baselines, "import_module", missing)
    for arguments in (["--baseline", "bm25s"], ["--peer", "langgraph"], ["--peer", "mem0"]):
        assert main(["--data", str(lay(tmp_path)), *arguments]) == 2
        assert "pip install -r benchmarks/requirements-peers.txt" in capsys.readouterr().err


def test_an_unknown_name_is_refused_with_those_that_are_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["--data", str(lay(tmp_path)), "--baseline", "lucene"])
    assert "lucene: known are bm25s, fts5" in capsys.readouterr().err


def test_every_choice_has_a_line_and_leaves_the_analyser_as_it_was(tmp_path: Path) -> None:
    before = (tokens.SINGLE, tokens.terms("the running 绿茶").counts)
    stores, questions = read(lay(tmp_path))
    found = dict(ablations(stores, questions))
    assert found.keys() == CHOICES.keys()
    assert found["as built"]["halves"] == [1.0, 1.0]
    assert (tokens.SINGLE, tokens.terms("the running 绿茶").counts) == before


@pytest.mark.parametrize("kind", TWINS)
def test_current_facts_come_before_their_outdated_twins(kind: str, tmp_path: Path) -> None:
    stores, questions = read(lay(tmp_path))
    share, met = current_first(stores, questions, DEFAULT, kind)
    assert share == 1.0
    assert met == (1 if kind == "number" else 3)


def test_the_kinds_of_twins_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [line["twin"] for line in printed(capsys, "--data", str(lay(tmp_path)), "--twins")] == list(TWINS)


def test_versions_are_measured_without_a_set(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, "--versions")
    assert [line["half"] for line in found] == ["tuned"] * 8 + ["held"] * 8
    assert all(line["current_first"] == line["of"] for line in found if line["pairs"] == "value")
    assert all(line["current_first"] == line["read"] for line in found)
    for kind, least in (("marked", 0.9), ("rewritten", 0.6), ("apart", 0.85)):
        assert all(line["current_first"] >= least * line["of"] for line in found if line["pairs"] == kind)
    with pytest.raises(SystemExit):
        main([])


def test_sixty_pairs_of_a_language_are_versions_and_no_pair_is_there_twice() -> None:
    known = pairs()
    for language in ("en", "zh"):
        assert sum(pair.kind != APART for pair in known if pair.language == language) >= 60
    assert len({pair.old for pair in known}) == len({pair.new for pair in known}) == len(known)


def test_the_product_answers_only_from_the_users_own_memories(tmp_path: Path) -> None:
    stores, questions = read(lay(tmp_path))
    ranked = product(stores)
    own = {user: {entry.id for entry in entries} for user, entries in stores.items()}
    assert all(set(ranked(question)) <= own[question.user] for question in questions)
