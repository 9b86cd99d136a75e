"""What each choice of the ranking is worth: the figures of a set without it, or with another value."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, Final

from benchmarks.retrieval_product import figures, product
from benchmarks.retrieval_sets import PROJECT, USER, Question, Store
from shared.recall import scoring, versions
from shared.recall.index import Entry
from shared.recall.ranking import BLEND, DEFAULT, RRF, SKILL, Preset
from shared.text import dates, han, tokens

Dress = Callable[[Entry, random.Random], Entry]


def _asks_for_no_date(text: str, _: object) -> dates.Asked:
    return dates.Asked([], text, "", [])


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to be without a choice: names of modules with other values, another preset, or other memories."""

    changed: tuple[tuple[ModuleType, str, Any], ...] = ()
    preset: Preset = DEFAULT
    dress: Dress = field(default=lambda entry, _: entry)


def _other(module: ModuleType, **values: Any) -> Choice:
    return Choice(tuple((module, name, value) for name, value in values.items()))


def _ranked(**values: Any) -> Choice:
    return Choice(preset=replace(DEFAULT, **values))


def _category(entry: Entry, rng: random.Random) -> Entry:
    return replace(entry, category=rng.randrange(8))


def _scope(entry: Entry, rng: random.Random) -> Entry:
    return replace(entry, scope_tag=rng.choice((USER, PROJECT)))


def _accesses(entry: Entry, rng: random.Random) -> Entry:
    return replace(entry, access_count=int(rng.paretovariate(0.8)) - 1)


CHOICES: Final[Mapping[str, Choice]] = {
    "as built": Choice(),
    "no stop words": _other(tokens, STOP_WORDS=frozenset()),
    "no stems": _other(tokens, _stemmer=lambda _: str),
    "no irregular and short forms": _other(tokens, IRREGULAR={}),
    "no neighbours": _other(tokens, PAIR=0.0),
    "neighbours apart from one word": _other(tokens, _pair="{} {}".format),
    "no names": _other(tokens, NAME=1.0),
    "asking words as others": _other(tokens, ASKING=1.0),
    "no parts of names": _other(tokens, PART=0.0),
    "no single characters": _other(tokens, SINGLE=0.0),
    "single characters 0.3": _other(tokens, SINGLE=0.3),
    "single characters 0.6": _other(tokens, SINGLE=0.6),
    "traditional characters as they stand": _other(han, simplified=str),
    "function characters kept": _other(tokens, _FUNCTION_CHARACTERS=frozenset(), _FUNCTION_PAIRS=frozenset()),
    "no dates": _other(dates, read=_asks_for_no_date),
    "no when": _other(tokens, WHEN=0.0),
    "k1 0.5": _other(scoring, SHORT=(0.5, scoring.SHORT[1])),
    "k1 0.1": _other(scoring, SHORT=(0.1, scoring.SHORT[1])),
    "b 0": _other(scoring, SHORT=(scoring.SHORT[0], 0.0)),
    "b 0.3": _other(scoring, SHORT=(scoring.SHORT[0], 0.3)),
    "k1 1.2, b 0.75": _other(scoring, SHORT=scoring.LONG),
    "pasted text as a question": _other(tokens, LONG_QUERY=10**9),
    "every question as pasted text": _other(tokens, LONG_QUERY=-1),
    "no feedback": _ranked(feedback=0.0),
    "feedback 0.4": _ranked(feedback=0.4),
    "no marker of newer versions": _ranked(newer_first=False),
    "versions of a frame from 0.5": _other(versions, FRAME=0.5),
    "no versions by words of change": _other(versions, MARKED=2.0, REPLACED=2.0),
    "versions of any length": _other(versions, LATIN_WORDS=10**9, SIGNS=10**9),
    "popularity 0.005": _ranked(popularity=0.005),
    "no recency": _ranked(recency=0.0),
    "recency 0.02 over 90 days": _ranked(recency=0.02, half_life=90.0),
    "text alone": _ranked(recency=0.0, popularity=0.0, category_power=0.0, source_power=0.0, newer_first=False),
    "preset rrf, equal weights": Choice(preset=RRF),
    "preset skill": Choice(preset=SKILL),
    "preset blend": Choice(preset=BLEND),
    "random categories": Choice(dress=_category),
    "random categories, power 0": Choice(preset=replace(DEFAULT, category_power=0.0), dress=_category),
    "random categories, power 1": Choice(preset=replace(DEFAULT, category_power=1.0), dress=_category),
    "random scopes": Choice(dress=_scope),
    "random scopes, power 1": Choice(preset=replace(DEFAULT, source_power=1.0), dress=_scope),
    "random access counts": Choice(dress=_accesses),
    "random access counts, popularity 0": Choice(preset=replace(DEFAULT, popularity=0.0), dress=_accesses),
}


def ablations(stores: Store, questions: Sequence[Question]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and figures of each choice; `halves` has the nDCG@10 of every second user from the first on, and of the others."""
    users = sorted({question.user for question in questions})
    halves = [[question for question in questions if question.user in users[half::2]] for half in (0, 1)]
    for name, choice in CHOICES.items():
        rng = random.Random(3)
        with _made(choice):
            dressed = {user: [choice.dress(entry, rng) for entry in entries] for user, entries in stores.items()}
            ranked = product(dressed, choice.preset)
            answers = {question: ranked(question) for question in questions}
        measured: dict[str, Any] = figures(questions, answers.__getitem__)
        del measured["queries_per_second"]
        measured["halves"] = [figures(half, answers.__getitem__)["ndcg@10"] for half in halves if half]
        yield name, measured


@contextmanager
def _made(choice: Choice) -> Iterator[None]:
    before = [(module, name, getattr(module, name)) for module, name, _ in choice.changed]
    try:
        for module, name, value in choice.changed:
            setattr(module, name, value)
        _forget()
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)
        _forget()


def _forget() -> None:
    """Words that were analysed by other rules."""
    for cached in (tokens._latin, tokens._other_stem, tokens._asking):
        cached.cache_clear()
