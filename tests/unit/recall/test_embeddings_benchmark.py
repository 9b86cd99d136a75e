"""The benchmark of embeddings on a set made here, where only meaning tells the answer."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.embeddings import main, measured
from shared import config
from shared.bootstrap import embeddings
from tests.fake_embedder import FakeEmbedder

DOCS = {
    "1": "Ada cannot start without espresso before nine",
    "2": "Ada lives near the harbour of Aarhus",
    "3": "Ada plays chess on Friday evenings",
}


def labelled(folder: Path) -> Path:
    """A set of three memories and one question whose words are in all of them."""
    docs = [json.dumps({"id": name, "user": "u", "text": text, "ts": None}) for name, text in DOCS.items()]
    query = {"id": "q", "user": "u", "query": "咖啡 for Ada", "ts": None, "rel": ["1"]}
    (folder / "docs.jsonl").write_text("\n".join(docs), "utf-8")
    (folder / "queries.jsonl").write_text(json.dumps(query), "utf-8")
    return folder


def test_a_line_holds_the_figures_by_words_alone_and_with_meaning(tmp_path: Path) -> None:
    embedder = FakeEmbedder()
    (line,) = measured(labelled(tmp_path), embedder, [embedder.trust], 10)
    assert (line["memories"], line["queries"], line["weight"]) == (3, 1, 0.7)
    assert line["words"]["mrr"] < 1.0
    assert line["words_and_meaning"]["mrr"] == 1.0
    assert line["words_and_meaning"]["current_first"] == 1.0
    assert len(embedder.texts) == 4, "three memories and a twin"


@pytest.fixture
def _unread() -> Iterator[None]:
    """Nothing of the environment is read yet, nor after the test."""
    for kept in (config.embeddings, embeddings.meaning):
        kept.cache_clear()
    yield
    for kept in (config.embeddings, embeddings.meaning):
        kept.cache_clear()


@pytest.mark.usefixtures("_unread")
@pytest.mark.parametrize(
    ("provider", "named"), [("openai", "EMBEDDING_MODEL"), ("bedrock", "EMBEDDING_MODEL"), ("local", "there is no")]
)
def test_what_is_missing_is_named(
    provider: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["embeddings", "--data", str(tmp_path), "--model", provider])
    for name in ("PROVIDER", "MODEL", "LENGTH", "URL", "API_KEY", "SECRET_ARN", "MILLISECONDS"):
        monkeypatch.setenv(f"EMBEDDING_{name}", "")
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert named in capsys.readouterr().err
