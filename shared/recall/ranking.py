"""From signals to an order: the presets of fusion, each value kept for whoever asks why.

It knows neither text nor index. The default was chosen by measurement (docs/decisions/ranking.md); the others are the formulas of the
designs Nacre comes from, selectable as they were written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from shared.domain.memory import Category, Scope
from shared.recall.candidates import Candidates
from shared.recall.entries import CATEGORIES

Floats = npt.NDArray[np.float64]
QueryClass = Literal["preference", "knowledge", "experience", "code", "general"]

DAY: Final = 86_400.0
RRF_K: Final = 60
SIGNALS_RANKED: Final = ("text", "coverage", "semantic", "recency", "popularity")

CATEGORY_WEIGHTS: Final[Mapping[Category, float]] = MappingProxyType(
    {
        Category.CREDENTIAL: 0.8,
        Category.DECISION: 1.2,
        Category.CONSTRAINT: 1.3,
        Category.PREFERENCE: 1.0,
        Category.EXPERIENCE: 1.0,
        Category.EVENT: 0.8,
        Category.KNOWLEDGE: 0.7,
        Category.CONTACT: 1.1,
    }
)
"""CmdCode's weights, experience added."""

SOURCE_WEIGHTS: Final[Mapping[Scope, float]] = MappingProxyType({Scope.PROJECT: 1.0, Scope.AGENT: 1.0, Scope.USER: 0.7})
"""Memory Skill's weights: what belongs to the project before what holds everywhere."""

_FAVOURED: Final[Mapping[QueryClass, frozenset[Category]]] = MappingProxyType(
    {
        "preference": frozenset({Category.PREFERENCE, Category.CONSTRAINT}),
        "knowledge": frozenset({Category.KNOWLEDGE, Category.CONTACT}),
        "experience": frozenset({Category.EXPERIENCE, Category.EVENT}),
        "code": frozenset({Category.DECISION, Category.CONSTRAINT, Category.KNOWLEDGE}),
        "general": frozenset(),
    }
)


@dataclass(frozen=True, slots=True)
class Preset:
    """One way to rank.

    `fusion`: `sum` adds by weight text ÷ its maximum, cosines stretched over 0 … 1, recency and popularity; `rrf` adds 1 ÷ (60 + place)
    of text, recency and popularity; `product` multiplies coverage and recency; `blend` adds text ÷ maximum and cosine by weight. Recency
    halves every `half_life` days. Category and source weights enter as powers: 0 ignores them, 1 takes them as they are. `days` −1 means
    any age. `feedback` is the weight of the best find's own terms, `newer_first` puts a newer version of the same before the older
    whatever their scores: shared/recall/feedback.py, versions.py.
    """

    name: str
    fusion: Literal["sum", "rrf", "product", "blend"]
    limit: int = 10
    candidates: int = 100
    days: int = -1
    text: float = 1.0
    semantic: float = 0.0
    recency: float = 0.0
    popularity: float = 0.0
    half_life: float = 90.0
    category_power: float = 1.0
    source_power: float = 1.0
    class_factor: float = 1.0
    feedback: float = 0.0
    newer_first: bool = False
    category_weights: Mapping[Category, float] = field(default_factory=lambda: CATEGORY_WEIGHTS)
    source_weights: Mapping[Scope, float] = field(default_factory=lambda: SOURCE_WEIGHTS)

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each signal that its fusion reads."""
        if self.fusion == "rrf":
            return {"text": 1.0, "recency": 1.0, "popularity": 1.0}
        if self.fusion == "product":
            return {"coverage": 1.0, "recency": 1.0}
        names = ("text", "semantic", "recency", "popularity") if self.fusion == "sum" else ("text", "semantic")
        return {name: getattr(self, name) for name in names}


DEFAULT: Final = Preset(
    "default",
    "sum",
    semantic=0.5,
    recency=0.01,
    half_life=365.0,
    popularity=0.0001,
    category_power=0.05,
    source_power=0.05,
    class_factor=1.02,
    feedback=0.15,
    newer_first=True,
)
RRF: Final = Preset("rrf", "rrf", half_life=7.0, source_power=0.0)
SKILL: Final = Preset(
    "skill", "product", limit=3, candidates=10, days=30, half_life=np.log(0.5) / np.log(0.95), category_power=0.0
)
BLEND: Final = Preset("blend", "blend", text=0.3, semantic=0.7, category_power=0.0, source_power=0.0)

PRESETS: Final[Mapping[str, Preset]] = MappingProxyType(
    {preset.name: preset for preset in (DEFAULT, RRF, SKILL, BLEND)}
)


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known of n candidates, each of shape (n,).

    `text` a BM25 score, `coverage` 0 … 1, `semantic` a cosine, `updated` epoch seconds, `accesses` a count; NaN counts as 0.
    `ids` break ties.
    """

    ids: Sequence[str]
    text: Floats
    coverage: Floats
    semantic: Floats
    updated: Floats
    accesses: Floats
    categories: Sequence[Category]
    scopes: Sequence[Scope]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class Ranking:
    """`order`: places of the candidates kept, best first, at most the preset's limit; `scores`, each of `parts` and each of `points` in
    that order. `points` are what the signals added to the score, the factors of category and source included: they sum to it. `weights`
    are those that were used."""

    order: list[int]
    scores: list[float]
    parts: dict[str, list[float]]
    points: dict[str, list[float]]
    weights: dict[str, float]

    def explain(self, place: int) -> dict[str, float]:
        """Every signal of the memory at that place of the ranking."""
        return {name: values[place] for name, values in self.parts.items()}

    def added(self, place: int) -> dict[str, float]:
        """What each signal added to the score of the memory at that place."""
        return {name: values[place] for name, values in self.points.items()}

    def ranks(self, place: int) -> dict[str, int]:
        """The memory's rank by each signal among those kept, 1 for the best; equal ones share a rank."""
        return {name: 1 + sum(value > self.parts[name][place] for value in self.parts[name]) for name in SIGNALS_RANKED}


def signals(found: Candidates, scopes: Mapping[bytes, Scope]) -> Signals:
    """Signals of an index's candidates; `scopes` tells the scope of each tag that was searched, others count as the user's."""
    return Signals(
        ids=found.ids,
        text=found.text,
        coverage=found.coverage,
        semantic=found.semantic,
        updated=found.updated.astype(np.float64),
        accesses=found.accesses.astype(np.float64),
        categories=[CATEGORIES[code] for code in found.categories.tolist()],
        scopes=[scopes.get(tag, Scope.USER) for tag in found.scope_tags],
    )


def rank(
    known: Signals,
    preset: Preset = DEFAULT,
    *,
    now: float,
    query_class: QueryClass = "general",
    limit: int | None = None,
) -> Ranking:
    """Order candidates by a preset; `now` in epoch seconds. Equal scores: later updated first, then the higher id."""
    if not len(known):
        return Ranking([], [], {}, {}, preset.weights)
    parts = _parts(known, preset, now, query_class)
    weights = _used(parts, preset)
    points = {
        name: added * parts["category"] * parts["source"] for name, added in _added(parts, preset, weights).items()
    }
    scores = sum(points.values(), np.zeros(len(known)))
    kept = np.flatnonzero(_eligible(known, preset, now))
    places = np.unique(np.array(known.ids), return_inverse=True)[1]
    order = kept[np.lexsort((-places[kept], -_plain(known.updated)[kept], -scores[kept]))][
        : preset.limit if limit is None else limit
    ]
    return Ranking(
        order.tolist(),
        scores[order].tolist(),
        {name: values[order].tolist() for name, values in parts.items()},
        {name: values[order].tolist() for name, values in points.items()},
        weights,
    )


def _parts(known: Signals, preset: Preset, now: float, query_class: QueryClass) -> dict[str, Floats]:
    age = np.maximum(now - _plain(known.updated), 0.0) / DAY
    accesses = np.log1p(np.maximum(_plain(known.accesses), 0.0))
    favoured = _FAVOURED[query_class]
    return {
        "text": _scaled(np.maximum(_plain(known.text), 0.0)),
        "coverage": np.clip(_plain(known.coverage), 0.0, 1.0),
        "semantic": np.clip(_plain(known.semantic), 0.0, 1.0),
        "recency": np.exp2(-age / preset.half_life),
        "popularity": _scaled(accesses),
        "category": np.array(
            [
                preset.category_weights.get(c, 1.0) ** preset.category_power
                * (preset.class_factor if c in favoured else 1.0)
                for c in known.categories
            ]
        ),
        "source": np.array([preset.source_weights.get(s, 1.0) ** preset.source_power for s in known.scopes]),
    }


def _used(parts: Mapping[str, Floats], preset: Preset) -> dict[str, float]:
    """The weights of a preset; a blend without a cosine is text alone."""
    if preset.fusion == "blend" and not parts["semantic"].any():
        return {**dict.fromkeys(preset.weights, 0.0), "text": 1.0}
    return preset.weights


def _added(parts: Mapping[str, Floats], preset: Preset, weights: Mapping[str, float]) -> dict[str, Floats]:
    """What each signal adds before the factors; the `product` is one thing and stands under coverage."""
    if preset.fusion == "sum":
        spread = {**parts, "semantic": _spread(parts["semantic"], parts["text"])}
        return {name: weight * spread[name] for name, weight in weights.items()}
    if preset.fusion == "rrf":
        return {name: 1.0 / (RRF_K + _places(parts[name], parts["text"])) for name in weights}
    if preset.fusion == "product":
        return {"coverage": parts["coverage"] * parts["recency"]}
    return {name: weight * parts[name] for name, weight in weights.items()}


def _places(signal: Floats, then: Floats) -> Floats:
    """Place of each candidate from 1 when sorted by a signal; equal ones in the order of `then`, then as they came."""
    places = np.empty(len(signal))
    places[np.lexsort((np.arange(len(signal)), -then, -signal))] = np.arange(1, len(signal) + 1)
    return places


def _eligible(known: Signals, preset: Preset, now: float) -> npt.NDArray[np.bool_]:
    kept = np.ones(len(known), bool) if preset.days < 0 else now - _plain(known.updated) <= preset.days * DAY
    best_first = np.lexsort((-_plain(known.text), ~kept))
    kept[best_first[preset.candidates :]] = False
    return kept


def _scaled(values: Floats) -> Floats:
    highest = values.max()
    return values / highest if highest > 0 else np.zeros(len(values))


def _spread(cosines: Floats, text: Floats) -> Floats:
    """Cosines above 0 stretched over 0 … 1, since those of one query lie close together. Where there is none beside others, a memory is
    taken to mean what its words say: else what was learned a minute ago would rank below what it replaces."""
    present = cosines > 0
    if not present.any():
        return cosines
    low, high = cosines[present].min(), cosines.max()
    return np.where(present, (cosines - low) / (high - low) if high > low else 1.0, text)


def _plain(values: Floats) -> Floats:
    return np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)
