"""What the persona and suggestions cost in AWS calls: a context has no step more for them, and they are read in two."""

from collections.abc import Iterator

import pytest

from benchmarks.requests import Person
from local.stack import Stack
from shared import bootstrap
from shared.storage import persona, suggestions
from shared.storage.document_commits import DocumentCommits
from shared.storage.persona import Persona, Statement
from shared.storage.suggestions import Decision, Kind, Suggestion
from tests.integration.test_budgets import READ_ALL, cold, context, person_of, shape

SUGGESTION = "01KJMV71S8AYZE4PA0D4YD5EQ4"


@pytest.fixture(scope="module")
def person() -> Iterator[Person]:
    with Stack.start(schedule=False, environment={"ACTIVE_LIMIT": "0"}) as stack:
        made = person_of(stack, 40)
        known(made)
        yield made


def known(made: Person) -> None:
    """Give somebody a persona and an accepted suggestion that rest on what is there."""
    listed = made.send("GET", "/v1/memories?limit=5").body["memories"]
    ids = tuple(one["id"] for one in listed)
    portrait = Persona((Statement("traits", "Keeps ledgers.", ids),), 5, None, (), "2026-01-01T00:00:00.000Z", "test")
    accepted = Suggestion(
        SUGGESTION,
        Kind.SKILL,
        "Ledgers",
        "Keep ledgers.",
        ids,
        5,
        Decision.ACCEPTED,
        None,
        None,
        frozenset(),
        "test",
        "",
    )
    documents = DocumentCommits(bootstrap.commits())
    documents.write(made.owner, persona.place, lambda _opened, _standing: portrait.fields())
    documents.write(
        made.owner, suggestions.place_of(SUGGESTION), lambda _opened, _standing: suggestions.fields(accepted)
    )


def test_a_context_takes_no_step_more(person: Person) -> None:
    first = context(person, {})
    assert "Keeps ledgers." in first.body["text"]
    assert "Keep ledgers." in first.body["text"]
    assert shape(context(person, {})) == READ_ALL[:2]
    opening = cold(person)
    assert shape(context(person, {})) == opening + READ_ALL[1:2]


def test_reading_them_takes_two_and_three_steps(person: Person) -> None:
    person.send("GET", "/v1/persona")
    assert shape(person.send("GET", "/v1/persona")) == [("BatchGetItem",), ("BatchGetItem",)]
    assert shape(person.send("GET", "/v1/suggestions")) == [("BatchGetItem",), ("Query",), ("BatchGetItem",)]
