"""A local stack whose learning asks a scripted model, and the answers that such a model is told to give."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from local.stack import Stack
from tests.e2e.client import Person
from tests.scripted_model import Learns, Received, Script, ScriptedModel

KEY = "key-CANARY-5d41402abc4b"


@contextmanager
def asking(model: ScriptedModel, provider: str = "openai", **environment: str) -> Iterator[Stack]:
    """A stack that learns with the model, in the provider's wire format."""
    named = {"MODEL_PROVIDER": provider, "MODEL_ID": "model-1", "MODEL_URL": model.url}
    key = {"MODEL_API_KEY": KEY} if provider == "openai" else {}
    with Stack.start(schedule=False, environment={**named, **key, **environment}) as running:
        yield running


def fact(content: str | None, **more: Any) -> dict[str, Any]:
    """One fact of an answer; `content` None leaves it out."""
    known = {"type": "user", "category": "knowledge", "importance": 5, "action": "insert"}
    return known | ({} if content is None else {"content": content}) | more


def answer(*facts: Mapping[str, Any], summary: str = "", experiences: Any = ()) -> dict[str, Any]:
    """A whole answer in the wire form."""
    return {"summary": summary, "facts": list(facts), "experiences": list(experiences)}


def alias_of(text: str, request: Received) -> str:
    """The alias under which a prompt offers the memory with that text."""
    return next(line.partition(":")[0] for line in request.user.split("\n") if line.endswith(f": {text}"))


def offered(request: Received) -> list[str]:
    """The texts of the memories that a prompt offers, in their order."""
    lines = [line.partition(": ") for line in request.user.split("\n")]
    return [text for alias, _, text in lines if alias[:1] == "m" and alias[1:].isdigit()]


def rewrites(old: str, new: str | None, *, action: str = "update", **more: Any) -> Script:
    """A reply that finds an offered memory by its text and touches or rewrites it."""
    return lambda request: Learns(answer(fact(new, action=action, target=alias_of(old, request), **more)))


def taught(
    person: Person, model: ScriptedModel, *facts: dict[str, Any], besides: str = "", **more: Any
) -> dict[str, Any]:
    """Let the person say these facts (and something besides) and the model find just them; return the task."""
    model.script(Learns(answer(*facts)))
    return person.learn("\n".join([*(one["content"] for one in facts), besides]).strip(), **more)


def counts(task: Mapping[str, Any]) -> dict[str, int]:
    """What a task counted, without zeros."""
    assert task["status"] == "done", task
    return {name: count for name, count in task["learned"].items() if count}
