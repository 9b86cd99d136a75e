"""Judging a whole proposal before anything of it is written: what is wrong with one operation refuses them all. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from shared.domain import limits
from shared.learning.answers import unwanted
from shared.learning.consolidation.proposals import Op, Proposal
from shared.learning.consolidation.wording import Words
from shared.text.normalise import full_width_length, has_words, is_well_formed, language, normalise


class Refusal(StrEnum):
    """Why nothing of a group was changed, as its owner reads it on the task."""

    UNREADABLE = "consolidation_unreadable"
    UNKNOWN = "consolidation_unknown_memory"
    TWICE = "consolidation_memory_twice"
    SOURCES = "consolidation_sources"
    EMPTY = "consolidation_empty"
    TOO_LONG = "consolidation_too_long"
    NO_FACT = "consolidation_no_fact"
    SECRET = "consolidation_secret"  # noqa: S105 - a code, no secret
    LANGUAGE = "consolidation_language"
    INVENTED = "consolidation_invented"
    NEGATION = "consolidation_negation"
    UNRELATED = "consolidation_unrelated"
    KNOWN = "consolidation_known_text"
    UNSAID = "consolidation_unsaid"
    TOO_MUCH = "consolidation_too_much"


class Refused(Exception):
    """The proposal is refused as a whole; nothing of its words is told."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.value)
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class Merge:
    """Memories that leave, and the text that says what they said; None where another memory says it already."""

    sources: tuple[str, ...]
    content: str | None


def judge(proposals: Sequence[Proposal], texts: Mapping[str, str]) -> list[Merge]:
    """Return what is to be done, by the aliases of `texts`; lines that no operation names are kept.

    The lines are in their order in time, the latest last.

    Raises Refused for an alias that was not offered or stands twice; for a merge of less than two or more than MERGE_SOURCES; for a new
    text that is empty, too long, no fact, in another language, equal to another line or product, or has a number, name or word
    that its sources do not have, denies what they do not deny, or leaves out a number, a name or most words of one of them (of the
    latest only where it says nothing but what that one says: a newer state); for dropping what no line that stays says; and for taking
    away more than half.
    """
    named = [alias for proposal in proposals for alias in proposal.sources]
    _refuse(Refusal.UNKNOWN, when=any(alias not in texts for alias in named))
    _refuse(Refusal.TWICE, when=len(set(named)) < len(named))
    wanted = [proposal for proposal in proposals if proposal.op is Op.MERGE]
    drops = [Merge((alias,), None) for proposal in proposals if proposal.op is Op.DROP for alias in proposal.sources]
    leaving = {alias for proposal in proposals if proposal.op is not Op.KEEP for alias in proposal.sources}
    _refuse(Refusal.TOO_MUCH, when=2 * (len(leaving) - len(wanted)) > len(texts))
    merges = [_merge(proposal, texts) for proposal in wanted]
    staying = [text for alias, text in texts.items() if alias not in leaving]
    made = [merge.content or "" for merge in merges]
    plain = [normalise(text).casefold() for text in (*staying, *made)]
    _refuse(Refusal.KNOWN, when=any(plain.count(normalise(text).casefold()) > 1 for text in made))
    told = [Words.of(text) for text in (*staying, *made)]
    for drop in drops:
        dropped = Words.of(texts[drop.sources[0]])
        _refuse(Refusal.UNSAID, when=not any(words.says(dropped) for words in told))
    return [*merges, *drops]


def _merge(proposal: Proposal, texts: Mapping[str, str]) -> Merge:
    content = proposal.content
    _refuse(Refusal.SOURCES, when=not 2 <= len(proposal.sources) <= limits.MERGE_SOURCES)
    _refuse(Refusal.EMPTY, when=not has_words(content))
    _refuse(Refusal.TOO_LONG, when=full_width_length(content) > limits.FACT_FULL_WIDTH)
    _refuse(Refusal.NO_FACT, when=not _is_fact(content))
    sources = [texts[alias] for alias in proposal.sources]
    said, product = Words.of(*sources), Words.of(content)
    _refuse(Refusal.LANGUAGE, when=language(content) not in {language(source) for source in sources})
    _refuse(Refusal.INVENTED, when=product.invents(said))
    _refuse(Refusal.NEGATION, when=product.negated != said.negated)
    *earlier, latest = [Words.of(text) for alias, text in texts.items() if alias in proposal.sources]
    kept = product.replaces if not product.adds_to(latest) else product.keeps
    _refuse(Refusal.UNRELATED, when=not (product.keeps(latest) and all(kept(one) for one in earlier)))
    return Merge(proposal.sources, content)


def _is_fact(text: str) -> bool:
    odd = any(ord(sign) < 32 for sign in text)
    return is_well_formed(text) and not (odd or unwanted.meta(text) or unwanted.about_assistant(text))


def _refuse(refusal: Refusal, *, when: bool) -> None:
    if when:
        raise Refused(refusal)
