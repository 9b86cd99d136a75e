"""Making a persona of facts: by a model, or by rules where there is none."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from shared.domain.asking import Ask
from shared.domain.memory import Memory
from shared.learning.extractor import Cost
from shared.learning.model import Model
from shared.learning.persona import by_rules, proposals
from shared.learning.persona.judging import Offered, sound
from shared.learning.placeholders import Placeholders
from shared.learning.prompts.persona import PROMPT_VERSION, build
from shared.storage.persona import Statement, within_bounds

RULES: Final = "rules persona/1"
MAX_TOKENS: Final = 4_000
LONGEST_SECONDS: Final = 90.0
UNREADABLE: Final = "persona_unreadable"
EMPTY: Final = "persona_empty"


@dataclass(frozen=True, slots=True)
class Portrayed:
    """Statements that may be kept, how many others were proposed, and what it cost."""

    statements: tuple[Statement, ...]
    refused: int
    model: str
    cost: Cost = field(default_factory=Cost)


class Unfit(Exception):
    """The persona stays as it was. `code` is for its owner to read."""

    def __init__(self, code: str, cost: Cost) -> None:
        super().__init__(code)
        self.code, self.cost = code, cost


class Portrayer(Protocol):
    """Makes statements of facts."""

    def portray(self, facts: Sequence[Memory], known: Sequence[Statement], seconds: float) -> Portrayed:
        """Return what these facts, the newest first and at least one, and what is known already say of the person, within that time.

        Raises Unfit; ModelUnavailable.
        """
        ...


class RulesPortrayer:
    """Finds names and sentences that speak for themselves. It writes no prose."""

    def portray(self, facts: Sequence[Memory], known: Sequence[Statement], seconds: float) -> Portrayed:  # noqa: ARG002
        return Portrayed(tuple(within_bounds([*by_rules.found(facts), *known])), 0, RULES)


@dataclass(frozen=True, slots=True)
class ModelPortrayer:
    """Asks a model once. It sees no id and no secret, and each statement of its answer stands or falls alone."""

    model: Model

    def portray(self, facts: Sequence[Memory], known: Sequence[Statement], seconds: float) -> Portrayed:
        hidden = Placeholders.of([*(fact.content for fact in facts), *(one.text for one in known)]).texts
        split = len(facts)
        told = {f"f{n}": (fact, text) for n, (fact, text) in enumerate(zip(facts, hidden[:split], strict=True), 1)}
        former = {f"s{n}": (one, text) for n, (one, text) in enumerate(zip(known, hidden[split:], strict=True), 1)}
        system, user = build(
            {alias: (fact.updated_at, fact.project, text) for alias, (fact, text) in told.items()},
            {alias: (one.part, text) for alias, (one, text) in former.items()},
        )
        ask = Ask(system, user, proposals.SCHEMA, MAX_TOKENS, min(seconds, LONGEST_SECONDS))
        answer = self.model.ask(ask)
        cost = Cost(1, answer.tokens_in, answer.tokens_out)
        proposed = proposals.read(answer.text) if answer.stop in {"end", "tool"} else None
        if proposed is None:
            raise Unfit(UNREADABLE, cost)
        offered = {alias: Offered((fact.id,), text, fact.scope) for alias, (fact, text) in told.items()}
        offered |= {alias: Offered(one.basis, text, None, one.part) for alias, (one, text) in former.items()}
        judged = (sound(one, offered) for one in proposed)
        statements = tuple(within_bounds(one for one in judged if one is not None))
        if not statements:
            raise Unfit(EMPTY, cost)
        return Portrayed(statements, len(proposed) - len(statements), f"{answer.model} {PROMPT_VERSION}", cost)
