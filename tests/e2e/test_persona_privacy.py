"""Of the persona and of suggestions nothing is readable outside their seal, deleted since or not."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from local.demo import remains
from local.demo.remains import Piece, Wire
from tests.e2e.client import Person
from tests.e2e.model import asking
from tests.e2e.test_canaries import written
from tests.e2e.test_persona import PERSONA, SUGGESTIONS, refreshed
from tests.e2e.test_persona_by_model import ADDRESS, EXPERIENCES, FACTS, SECRET, SUGGESTED, WRITTEN, answers
from tests.scripted_model import ScriptedModel


@dataclass(frozen=True)
class Left:
    """What is left when everything has happened."""

    places: dict[str, list[Piece]]


@pytest.fixture(scope="module")
def left() -> Iterator[Left]:
    with (
        Wire() as wire,
        written() as lines,
        ScriptedModel(otherwise=answers) as model,
        asking(model, LOG_LEVEL="DEBUG") as stack,
    ):
        ann = Person(stack)
        ids = [ann.add(text, category="preference")["id"] for text in FACTS["en"]]
        for text in EXPERIENCES:
            ann.add(text, scope="agent", agent="agent-zeisig", category="experience")
        assert refreshed(ann)["status"] == "done"
        (one,) = ann.ok("GET", SUGGESTIONS)["suggestions"]
        ann.ok("PATCH", f"{SUGGESTIONS}/{one['id']}", {"status": "accepted"})
        assert SUGGESTED[1] in ann.context("so be it", new_session=False, agent="agent-zeisig")["text"]
        ann.ok("DELETE", f"/v1/memories/{ids[0]}")
        ann.ok("DELETE", PERSONA)
        assert stack.run_maintenance()["idle"]
        yield Left(
            {
                "bucket and table": [*remains.bucket(stack), *remains.table(stack)],
                "requests to AWS": list(wire.pieces),
                "logs and output": [Piece("log", line.encode()) for line in lines().split("\n")],
            }
        )


@pytest.mark.parametrize("place", ["bucket and table", "requests to AWS", "logs and output"])
def test_nothing_of_it_is_readable_anywhere(left: Left, place: str) -> None:
    pieces = left.places[place]
    assert pieces
    texts = [*FACTS["en"], *WRITTEN["en"], *EXPERIENCES, *SUGGESTED, "agent-zeisig", ADDRESS, SECRET]
    assert remains.search(pieces, texts) == []
