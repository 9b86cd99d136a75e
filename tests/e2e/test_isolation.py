"""Whose memories an answer holds, for every combination of project and agent, in search and context."""

from typing import Any

import pytest

from local.stack import Stack
from tests.e2e.client import Person

PROJECTS = ("atlas", "borealis")
AGENTS = ("pilot", "stoker")
EVERYTHING = {"person", *PROJECTS, *AGENTS}


@pytest.fixture(scope="module")
def known(stack: Stack) -> Person:
    """Somebody with one memory of their own, of each project and of each agent."""
    ann = Person(stack)
    ann.add("harbour rule of the person")
    for project in PROJECTS:
        ann.add(f"harbour rule of {project}", scope="project", project=project)
    for agent in AGENTS:
        ann.add(f"harbour rule of {agent}", scope="agent", agent=agent)
    return ann


def told(text: str) -> set[str]:
    return {name for name in EVERYTHING if f"rule of the {name}" in text or f"rule of {name}" in text}


@pytest.mark.parametrize("agent", [None, *AGENTS, "nobody"])
@pytest.mark.parametrize("project", [None, *PROJECTS, "*", "nowhere", "default"])
def test_an_answer_holds_the_persons_memories_those_of_the_project_and_those_of_the_agent(
    known: Person, project: str | None, agent: str | None
) -> None:
    at_hand = set(PROJECTS) if project == "*" else {project}
    wanted = EVERYTHING & {"person", *at_hand, agent}
    where: dict[str, Any] = {"project": project} if project else {}
    where |= {"agent": agent} if agent else {}
    assert told("\n".join(known.found("harbour rule", **where))) == wanted
    for message in ("what is the harbour rule", None):
        context = known.context(message, **where)
        assert told(context["text"]) == wanted
        assert len(context["memory_ids"]) == len(wanted)
    assert told(known.context("Tell me something", force=True, **where)["text"]) == wanted


@pytest.mark.parametrize("project", [None, *PROJECTS, "*"])
@pytest.mark.parametrize("agent", [None, *AGENTS])
def test_nobody_else_sees_any_of_it(known: Person, bob: Person, project: str | None, agent: str | None) -> None:
    where: dict[str, Any] = {"project": project} if project else {}
    where |= {"agent": agent} if agent else {}
    bob.add("harbour rule of bob")
    assert bob.found("harbour rule", **where) == ["harbour rule of bob"]
    assert told(bob.context("what is the harbour rule", **where)["text"]) == set()
    assert "bob" not in known.context("what is the harbour rule", **where)["text"]


def test_where_no_project_is_named_the_active_one_is_meant_in_search_and_context(ann: Person) -> None:
    ann.add("harbour rule of the person")
    for project in PROJECTS:
        ann.add(f"harbour rule of {project}", scope="project", project=project)
    for active in (None, "atlas", "borealis", "default", "atlas"):
        if active:
            ann.ok("POST", "/v1/scenes/switch", {"project": active})
        at_hand = {"person", active} & EVERYTHING
        assert told("\n".join(ann.found("harbour rule"))) == at_hand
        assert told(ann.context("what is the harbour rule")["text"]) == at_hand
        assert told(ann.context()["text"]) == at_hand
        assert told(ann.context("what is the harbour rule", project=None)["text"]) == {"person"}
        assert told("\n".join(ann.found("harbour rule", project="borealis"))) == {"person", "borealis"}
