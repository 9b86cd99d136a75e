"""AWS calls, units and bytes of every operation against its budget, over HTTP and the real handlers, for one owner of each size.

`budget` counts the sequential AWS steps before the answer's content is known; counting what was found is one step more and is shown
in `steps`. Cold: a new process, so without keys and index; it reads the keyring beside the head, then unwraps the key.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from benchmarks.requests import Measured, Person

BUDGETS: Final = {
    ("search", "warm"): 2,
    ("search", "cold"): 3,
    ("context", "warm"): 2,
    ("context", "cold"): 3,
    ("context, session start", "warm"): 2,
    ("context, session start", "cold"): 3,
    ("add", "warm"): 2,
    ("add", "cold"): 4,
    ("edit", "warm"): 3,
    ("edit", "cold"): 4,
    ("delete", "warm"): 3,
    ("delete", "cold"): 4,
    ("accept a conversation", "warm"): 4,
    ("accept a conversation", "cold"): 5,
    ("list", "warm"): 3,
    ("list", "cold"): 4,
}
"""Steps, of docs/architecture.md. Cold keys cost one step more, or two where nothing was to be read. For lists nothing is promised
there: what is held here is that they do not grow."""
HEADER: Final = (
    f"{'operation':<24}{'state':<7}{'budget':>7}{'measured':>9}{'steps':>7}{'calls':>7}{'read units':>12}{'write units':>12}"
    f"{'bytes out':>11}{'bytes in':>10}"
)
_QUERY: Final = "which city did the platform team move to? 平台组在哪个城市"


@dataclass(frozen=True, slots=True)
class Row:
    """One operation in one state."""

    operation: str
    state: str
    measured: Measured

    @property
    def budget(self) -> int | None:
        """Steps that it may take; None: none was promised."""
        return BUDGETS.get((self.operation, self.state))

    @property
    def answered(self) -> int:
        """Steps until the answer's content was known: the counting of accesses, where it is the last step, is not one of them."""
        steps = self.measured.cost.steps
        last = {call.operation for call in self.measured.calls if call.step == steps}
        return steps - (self.operation.startswith(("search", "context")) and last == {"UpdateItem"})

    @property
    def within(self) -> bool:
        """Whether the budget holds."""
        return self.budget is None or self.answered <= self.budget

    def __str__(self) -> str:
        """The line of the table."""
        cost, budget = self.measured.cost, "–" if self.budget is None else self.budget
        return (
            f"{self.operation:<24}{self.state:<7}{budget:>7}{self.answered:>9}{cost.steps:>7}{cost.calls:>7}"
            f"{cost.read_units:>12.1f}{cost.write_units:>12.1f}{cost.request_bytes:>11}{cost.response_bytes:>10}"
            f"{'' if self.within else '  OVER'}"
        )


def rows(person: Person) -> Iterator[Row]:
    """Do every operation warm and cold and yield what it took; leaves a few memories and changes behind."""
    numbers = count()

    def added() -> str:
        made = person.send(
            "POST", "/v1/memories", {"content": f"The platform team keeps list {next(numbers)} in Lisbon"}
        )
        return f"/v1/memories/{made.body['id']}"

    def sent(method: str, path: str, body: dict[str, Any] | None = None) -> Callable[[], Measured]:
        return lambda: person.send(method, path, body)

    def once(method: str, body: dict[str, Any] | None = None) -> Callable[[], Measured]:
        paths = iter([added(), added()])
        return lambda: person.send(method, next(paths), body and {"content": f"{body['content']} {next(numbers)}"})

    search = sent("POST", "/v1/search", {"query": _QUERY})
    yield from _both(person, "search", search, search)
    yield from _both(person, "context", search, sent("POST", "/v1/context", {"message": _QUERY}))
    yield from _both(person, "context, session start", search, sent("POST", "/v1/context", {}))
    yield from _both(
        person,
        "add",
        search,
        lambda: person.send("POST", "/v1/memories", {"content": f"I like {next(numbers)} cups of tea"}),
    )
    yield from _both(person, "edit", search, once("PATCH", {"content": "I like green tea"}))
    yield from _both(person, "delete", search, once("DELETE"))
    yield from _both(person, "list", search, sent("GET", "/v1/memories"))
    yield from _learning(person, numbers)


def _both(person: Person, operation: str, warm: Callable[[], Measured], do: Callable[[], Measured]) -> Iterator[Row]:
    warm()
    yield Row(operation, "warm", do())
    person.stack.functions.reload()
    yield Row(operation, "cold", do())


def _learning(person: Person, numbers: Iterator[int]) -> Iterator[Row]:
    """Accept a conversation of two facts, and what the worker then does for it."""

    def accepted() -> Measured:
        said = f"We decided to keep ledger {next(numbers)} in Postgres. 我喜欢早上喝深烘咖啡{next(numbers)}。"
        chat = {"messages": [{"role": "user", "content": said}], "trigger": "manual"}
        return person.send("POST", "/v1/conversations", chat)

    for state in ("warm", "cold"):
        if state == "cold":
            person.stack.functions.reload()
        person.stack.calls.clear()
        yield Row("accept a conversation", state, accepted())
        if not person.stack.wait_until_idle():
            raise TimeoutError("the queues did not become idle")
        learned = tuple(call for call in person.stack.calls.all() if "Extraction" in call.function)
        if state == "warm":
            yield Row("learn two facts", state, Measured(None, learned))
