"""The extractor that asks a language model: it finds and matches, the server decides.

One call per part of the conversation, one more where an answer cannot be read. No secret, no order from outside and nothing that Nacre
told before is in any prompt.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from shared.domain.asking import Answer, Ask, ModelRefused, ModelTimeout, ModelUnavailable
from shared.domain.memory import Category, Scope
from shared.domain.settings import Preferences
from shared.learning.answers import answers
from shared.learning.conversation import Conversation, Message
from shared.learning.evidence import Evidence
from shared.learning.extractor import Candidate, Cost, Extracted, Interrupted, Known, Unwilling, facts
from shared.learning.model import Model
from shared.learning.prompts.extract import PROMPT_VERSION, Prompt, build, parts
from shared.learning.prompts.material import Material, foreign, prepare, said
from shared.text import rules
from shared.text.keywords import words_of

PART = 24_000
"""Full-width characters of a conversation that go into one call."""
MAX_TOKENS = 4_000
BUDGET_SECONDS = 270.0
"""For all calls of one delivery: below the function's time, so that a failure is still recorded."""
LEAST_SECONDS = 3.0
UNREADABLE = "model_unreadable"
_ONLY_THE_PERSONS = frozenset({Category.PREFERENCE, Category.DECISION, Category.CONSTRAINT})
"""What steers an assistant later: no tool, document or assistant may put it there."""
_AGAIN = "\n\nYour answer before this could not be used. "


@dataclass(slots=True)
class _Gathered:
    """What the parts of a conversation have given so far."""

    facts: list[tuple[answers.Fact, str | None]]
    experiences: list[answers.Experience]
    summaries: list[str]
    dropped: int = 0
    cost: Cost = field(default_factory=Cost)
    model: str = ""


@dataclass(frozen=True, slots=True)
class ModelExtractor:
    """Asks one model. `monotonic` gives seconds."""

    model: Model
    monotonic: Callable[[], float]

    def extract(
        self,
        conversation: Conversation,
        received_at: datetime,
        preferences: Preferences,
        known: Callable[[], Known],
    ) -> Extracted:
        """Return what the model found. Raises Interrupted; Unwilling for a refusing or unreadable model."""
        messages, unwanted = wished_for(conversation.learned_from(), preferences)
        material = prepare(messages)
        if not any(message.role == "user" for message in material.messages):
            return Extracted((), unwanted, PROMPT_VERSION, quarantined=material.quarantined)
        limit = facts(conversation.trigger)
        gathered = self._ask_all(conversation, received_at, material, known(), limit)
        kept = sorted(gathered.facts, key=lambda fact: -fact[0].importance)[:limit]
        evidence = Evidence.of(material.messages, received_at, material.placeholders)
        candidates = [self._candidate(fact, target, material, evidence) for fact, target in kept]
        sound = tuple(candidate for candidate in candidates if candidate is not None)
        hidden = material.placeholders.hidden
        acted = any(message.role == "tool" for message in material.messages)
        experiences = gathered.experiences if acted else []
        return Extracted(
            candidates=sound,
            dropped=unwanted
            + gathered.dropped
            + len(gathered.facts)
            - len(sound)
            + len(gathered.experiences)
            - len(experiences),
            model=f"{gathered.model} {PROMPT_VERSION}",
            summary=hidden("\n".join(gathered.summaries)) or None,
            experiences=tuple(hidden(f"{e.situation} → {e.action} → {e.outcome}") for e in experiences),
            quarantined=material.quarantined,
            cost=gathered.cost,
        )

    def _ask_all(
        self, conversation: Conversation, received_at: datetime, material: Material, known: Known, limit: int
    ) -> _Gathered:
        gathered = _Gathered([], [], [])
        ends = self.monotonic() + BUDGET_SECONDS
        for part in parts(material.messages, PART):
            prompt = build(
                part,
                offered=known.offered,
                dismissed=known.dismissed,
                project=conversation.real_project(),
                now=received_at,
                limit=limit,
            )
            reading = self._read(prompt, part, limit, ends, gathered)
            gathered.facts += [(fact, prompt.aliases.get(fact.target or "")) for fact in reading.facts]
            gathered.experiences += reading.experiences
            gathered.summaries += [reading.summary] if reading.summary else []
            gathered.dropped += sum(reading.discarded.values())
        return gathered

    def _read(
        self, prompt: Prompt, part: Sequence[Message], limit: int, ends: float, gathered: _Gathered
    ) -> answers.Reading:
        """Ask, and ask once more with what was wrong; of one that ran out of tokens again, the whole facts count."""
        user = prompt.user
        for last in (False, True):
            answer = self._ask(prompt.system, user, ends, gathered)
            try:
                reading = answers.read(
                    answer.text, aliases=frozenset(prompt.aliases), limit=limit, said=said(part), foreign=foreign(part)
                )
            except answers.Unreadable as unreadable:
                if last or answer.stop == "refused":
                    break
                user = f"{prompt.user}{_AGAIN}{unreadable}"
            else:
                if last or not (reading.cut and answer.stop == "length"):
                    return reading
                user = f"{prompt.user}{_AGAIN}{answers.Problem.CUT}"
        raise Unwilling(UNREADABLE, gathered.cost)

    def _ask(self, system: str, user: str, ends: float, gathered: _Gathered) -> Answer:
        left = ends - self.monotonic()
        if left < LEAST_SECONDS:
            raise Interrupted(ModelTimeout(), gathered.cost)
        try:
            answer = self.model.ask(Ask(system, user, answers.schema(), MAX_TOKENS, left))
        except ModelRefused as refused:
            raise Unwilling(refused.code, gathered.cost, refused.answered) from None
        except ModelUnavailable as problem:
            raise Interrupted(problem, gathered.cost) from None
        gathered.cost += Cost(1, answer.tokens_in, answer.tokens_out)
        gathered.model = answer.model
        return answer

    def _candidate(
        self, fact: answers.Fact, target: str | None, material: Material, evidence: Evidence
    ) -> Candidate | None:
        """Put secrets back into a fact; None where that cannot be done without doubt, and for a wish that is not the person's own."""
        if fact.category in _ONLY_THE_PERSONS and not evidence.is_persons(fact.content):
            return None
        restored = material.placeholders.restore(fact.content, credential=fact.category is Category.CREDENTIAL)
        if not restored.ok:
            return None
        quote, at = evidence.quote(fact.content)
        scope = Scope.PROJECT if fact.scope is Scope.PROJECT else Scope.USER
        return Candidate(
            restored.masked, scope, fact.category, fact.importance, quote, at, action=fact.action, target=target
        )


def wished_for(messages: Sequence[Message], preferences: Preferences) -> tuple[list[Message], int]:
    """Return what its owner lets anybody learn from ("don't save", excluded words), and how many sentences were cut out."""
    spoken = [message.text if message.role == "user" else "" for message in messages]
    kept, cut = rules.wanted(spoken, words_of(preferences.excluded_keywords.items()))
    return [
        replace(message, text=text) if message.role == "user" else message
        for message, text in zip(messages, kept, strict=True)
    ], cut
