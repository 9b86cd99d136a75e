"""Who proposes what to merge in a group: a language model, in one call, or the rules. Both are judged before anybody sees a proposal."""

from dataclasses import dataclass, field
from typing import Protocol

from shared.domain.asking import Ask, ModelRefused, ModelUnavailable
from shared.learning.consolidation import proposals
from shared.learning.consolidation.doubles import doubles
from shared.learning.consolidation.groups import Group
from shared.learning.consolidation.judging import Merge, Refusal, Refused, judge
from shared.learning.extractor import Cost
from shared.learning.model import Model
from shared.learning.placeholders import Placeholders
from shared.learning.prompts.consolidate import PROMPT_VERSION, build

RULES = "rules consolidate/1"
MAX_TOKENS = 8_000
LONGEST_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Proposed:
    """Sound merges by memory ids; what made them, and what that cost."""

    merges: tuple[Merge, ...]
    model: str
    cost: Cost = field(default_factory=Cost)


class Unfit(Exception):
    """Nothing can be proposed now. `code` is for the owner to read, `answered` the status that a model's provider refused with."""

    def __init__(self, code: str, cost: Cost | None = None, answered: int | None = None) -> None:
        super().__init__(code)
        self.code, self.cost, self.answered = code, cost or Cost(), answered


class Proposer(Protocol):
    """Finds what says the same in a group."""

    def propose(self, group: Group, seconds: float) -> Proposed:
        """Return what may be merged, within that time. Raises Unfit: then the group stays as it is."""
        ...


class RulesProposer:
    """Finds equal texts, without any model."""

    def propose(self, group: Group, seconds: float) -> Proposed:  # noqa: ARG002 - they take none
        return Proposed(tuple(doubles({member.id: member.content for member in group.members})), RULES)


@dataclass(frozen=True, slots=True)
class ModelProposer:
    """Asks a model once for each group. It sees no id and no secret, and an answer that is not sound as a whole changes nothing."""

    model: Model

    def propose(self, group: Group, seconds: float) -> Proposed:
        placeholders = Placeholders.of([member.content for member in group.members])
        texts = {f"m{number}": text for number, text in enumerate(placeholders.texts, 1)}
        ids = dict(zip(texts, (member.id for member in group.members), strict=True))
        confirmed = (member.updated_at for member in group.members)
        prompt = build({alias: (at, texts[alias]) for alias, at in zip(texts, confirmed, strict=True)})
        ask = Ask(prompt.system, prompt.user, proposals.SCHEMA, MAX_TOKENS, min(seconds, LONGEST_SECONDS))
        try:
            answer = self.model.ask(ask)
        except ModelRefused as refused:
            raise Unfit(refused.code, answered=refused.answered) from None
        except ModelUnavailable as problem:
            raise Unfit(problem.code, answered=problem.answered) from None
        cost = Cost(1, answer.tokens_in, answer.tokens_out)
        if answer.stop in {"length", "refused"}:
            raise Unfit(Refusal.UNREADABLE, cost)
        try:
            merges = judge(proposals.read(answer.text), texts)
            told = tuple(_named(merge, ids, placeholders) for merge in merges)
        except proposals.Unreadable:
            raise Unfit(Refusal.UNREADABLE, cost) from None
        except Refused as refused_answer:
            raise Unfit(refused_answer.refusal, cost) from None
        return Proposed(told, f"{answer.model} {PROMPT_VERSION}", cost)


def _named(merge: Merge, ids: dict[str, str], placeholders: Placeholders) -> Merge:
    """Return the merge by ids. Raises Refused where the new text has a secret: then what holds it is a credential, and left alone."""
    content = merge.content
    if content is not None:
        restored = placeholders.restore(content)
        if not restored.ok or restored.masked.values:
            raise Refused(Refusal.SECRET)
        content = restored.text
    return Merge(tuple(ids[alias] for alias in merge.sources), content)
