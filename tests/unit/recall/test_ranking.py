"""Fusion: each preset is its formula, ties and odd numbers have one order, and newer beats outdated."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.memory import Category, Scope
from shared.recall.index import Index
from shared.recall.ranking import BLEND, DAY, DEFAULT, PRESETS, RRF, SKILL, Preset, QueryClass, Signals, rank, signals
from shared.text.tokens import query_terms
from tests.unit.recall.made import NOW, THERE, entry, name

NOON = 1_780_000_000.0


def known(
    text: list[float], *, age: list[float] | None = None, accesses: list[float] | None = None, coverage: list[float] | None = None,
    semantic: list[float] | None = None, categories: list[Category] | None = None, scopes: list[Scope] | None = None,
) -> Signals:  # fmt: skip
    n = len(text)
    return Signals(
        ids=[name(place) for place in range(n)],
        text=np.array(text, float),
        coverage=np.array(coverage or [1.0] * n, float),
        semantic=np.array(semantic or [0.0] * n, float),
        updated=NOON - DAY * np.array(age or [0.0] * n, float),
        accesses=np.array(accesses or [0.0] * n, float),
        categories=categories or [Category.PREFERENCE] * n,
        scopes=scopes or [Scope.PROJECT] * n,
    )


def test_nothing_found_ranks_as_nothing() -> None:
    for preset in PRESETS.values():
        assert rank(known([]), preset, now=NOON).order == []


def test_the_better_text_comes_first_by_default() -> None:
    ranking = rank(known([3.0, 9.0, 5.0], age=[0, 900, 400], accesses=[99, 0, 0]), now=NOON)
    assert ranking.order == [1, 2, 0]


def test_of_two_equal_texts_the_newer_comes_first() -> None:
    assert rank(known([5.0, 5.0], age=[300, 2]), now=NOON).order == [1, 0]
    assert rank(known([5.0, 5.0], age=[3_000, 2_999]), now=NOON).order == [1, 0]


def test_a_newer_fact_beats_an_outdated_one_whose_text_is_a_little_closer() -> None:
    assert rank(known([5.0, 4.98], age=[365, 1]), now=NOON).order == [1, 0]


def test_equal_in_everything_the_higher_id_comes_first() -> None:
    for preset in (DEFAULT, SKILL, BLEND):
        assert rank(known([5.0, 5.0, 5.0]), preset, now=NOON).order == [2, 1, 0]


def test_the_default_adds_scaled_text_recency_and_popularity() -> None:
    ranking = rank(known([4.0, 2.0], age=[365, 0], accesses=[0, 7]), now=NOON)
    assert ranking.scores == pytest.approx([1 + DEFAULT.recency / 2, 0.5 + DEFAULT.recency + DEFAULT.popularity])


def test_the_default_stretches_meaning_over_its_range_and_lets_it_join_words() -> None:
    ranking = rank(known([4.0, 2.0, 0.0], semantic=[0.7, 0.8, 0.0]), now=NOON)
    wanted = {0: 1 + DEFAULT.recency, 1: 0.5 + DEFAULT.semantic + DEFAULT.recency, 2: DEFAULT.recency}
    assert dict(zip(ranking.order, ranking.scores, strict=True)) == pytest.approx(wanted)
    assert rank(known([4.0], semantic=[0.7]), now=NOON).scores == pytest.approx(
        [1 + DEFAULT.semantic + DEFAULT.recency]
    )


def test_a_memory_that_has_no_vector_yet_is_taken_to_mean_what_its_words_say() -> None:
    ranking = rank(known([4.0, 4.0, 1.0], age=[9, 0, 0], semantic=[0.9, 0.0, 0.8]), now=NOON)
    assert ranking.order == [1, 0, 2]
    assert ranking.added(0)["semantic"] == pytest.approx(DEFAULT.semantic)


def test_cmdcodes_preset_adds_reciprocal_places_of_three_signals_times_category() -> None:
    ranking = rank(
        known(
            [9.0, 5.0, 1.0],
            age=[10, 5, 0],
            accesses=[0, 3, 1],
            categories=[Category.KNOWLEDGE, Category.CONSTRAINT, Category.DECISION],
        ),
        RRF,
        now=NOON,
    )
    wanted = {
        0: (1 / 61 + 1 / 63 + 1 / 63) * 0.7,
        1: (1 / 62 + 1 / 62 + 1 / 61) * 1.3,
        2: (1 / 63 + 1 / 61 + 1 / 62) * 1.2,
    }
    assert dict(zip(ranking.order, ranking.scores, strict=True)) == pytest.approx(wanted)


def test_cmdcodes_recency_halves_every_seven_days() -> None:
    assert rank(known([1.0], age=[7]), RRF, now=NOON).explain(0)["recency"] == pytest.approx(0.5)


def test_memory_skills_preset_multiplies_coverage_daily_decay_and_source() -> None:
    ranking = rank(
        known([1.0, 1.0], coverage=[0.5, 1.0], age=[7, 2], scopes=[Scope.PROJECT, Scope.USER]), SKILL, now=NOON
    )
    wanted = {0: 0.5 * 0.95**7, 1: 0.95**2 * 0.7}
    assert dict(zip(ranking.order, ranking.scores, strict=True)) == pytest.approx(wanted)


def test_memory_skills_preset_takes_ten_candidates_of_thirty_days_and_gives_three() -> None:
    many = known(
        [float(n) for n in range(15)],
        age=[40.0 if n > 12 else 1.0 for n in range(15)],
        coverage=[1 - n / 20 for n in range(15)],
    )
    assert rank(many, SKILL, now=NOON).order == [3, 4, 5]


def test_zclaws_preset_blends_seven_parts_meaning_with_three_parts_words() -> None:
    ranking = rank(known([4.0, 2.0], semantic=[0.2, 0.9]), BLEND, now=NOON)
    assert dict(zip(ranking.order, ranking.scores, strict=True)) == pytest.approx({0: 0.3 + 0.14, 1: 0.15 + 0.63})


def test_zclaws_preset_without_embeddings_is_words_alone() -> None:
    ranking = rank(known([4.0, 2.0]), BLEND, now=NOON)
    assert ranking.scores == pytest.approx([1.0, 0.5])
    assert ranking.weights == {"text": 1.0, "semantic": 0.0}
    assert rank(known([4.0, 2.0], semantic=[0.2, 0.9]), BLEND, now=NOON).weights == {"text": 0.3, "semantic": 0.7}
    for place in range(2):
        parts = ranking.explain(place)
        assert ranking.added(place) == {name: weight * parts[name] for name, weight in ranking.weights.items()}


def test_what_was_read_often_is_before_its_equal_and_never_before_what_is_a_week_newer() -> None:
    assert rank(known([5.0, 5.0], accesses=[6, 0]), now=NOON).order == [0, 1]
    assert rank(known([5.0, 5.0], age=[90, 1], accesses=[1_000, 0]), now=NOON).order == [1, 0]
    assert rank(known([5.0, 5.0], age=[9, 2], accesses=[1_000, 0]), now=NOON).order == [1, 0]


@pytest.mark.parametrize(
    ("query_class", "favoured"),
    [
        ("preference", Category.PREFERENCE),
        ("knowledge", Category.KNOWLEDGE),
        ("experience", Category.EXPERIENCE),
        ("code", Category.DECISION),
    ],
)
def test_the_class_of_a_question_tips_the_balance_and_no_more(query_class: QueryClass, favoured: Category) -> None:
    near = known([10.0, 9.9], categories=[Category.CREDENTIAL, favoured])
    far = known([10.0, 8.0], categories=[Category.CREDENTIAL, favoured])
    assert rank(near, now=NOON, query_class=query_class).order[0] == 1
    assert rank(far, now=NOON, query_class=query_class).order[0] == 0


def test_a_limit_given_goes_before_the_presets() -> None:
    assert len(rank(known([1.0] * 30), now=NOON).order) == DEFAULT.limit
    assert len(rank(known([1.0] * 30), now=NOON, limit=20).order) == 20


def test_every_signal_can_be_explained() -> None:
    ranking = rank(known([2.0, 4.0], age=[0, 365], accesses=[3, 0], coverage=[0.5, 1.0]), now=NOON)
    assert ranking.explain(0) == pytest.approx(
        {
            "text": 1.0,
            "coverage": 1.0,
            "semantic": 0.0,
            "recency": 0.5,
            "popularity": 0.0,
            "category": 1.0,
            "source": 1.0,
        }
    )


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
@pytest.mark.parametrize("semantic", [None, [0.1, 0.5, 0.3]])
def test_what_the_signals_added_sums_to_the_score_and_has_only_signals_with_a_weight(
    preset: Preset, semantic: list[float] | None
) -> None:
    many = known(
        [2.0, 4.0, 3.0],
        age=[0, 20, 7],
        accesses=[3, 0, 9],
        coverage=[0.5, 1.0, 0.7],
        semantic=semantic,
        categories=[Category.DECISION, Category.EVENT, Category.CONSTRAINT],
        scopes=[Scope.USER, Scope.PROJECT, Scope.AGENT],
    )
    ranking = rank(many, preset, now=NOON, query_class="code")
    for place, score in enumerate(ranking.scores):
        assert sum(ranking.added(place).values()) == pytest.approx(score, rel=1e-12)
        assert set(ranking.added(place)) <= set(preset.weights)


def test_ranks_count_the_better_ones_and_equal_ones_share_theirs() -> None:
    ranking = rank(known([2.0, 4.0, 3.0], age=[0, 20, 7], accesses=[3, 0, 3]), now=NOON)
    assert ranking.order == [1, 2, 0]
    assert [ranking.ranks(place)["text"] for place in range(3)] == [1, 2, 3]
    assert [ranking.ranks(place)["recency"] for place in range(3)] == [3, 2, 1]
    assert [ranking.ranks(place)["popularity"] for place in range(3)] == [3, 1, 1]


odd = st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(st.tuples(odd, odd, odd, odd, odd), min_size=1, max_size=8), st.sampled_from(list(PRESETS.values())))
def test_no_number_however_odd_breaks_the_order(rows: list[tuple[float, ...]], preset: Preset) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)]
    with np.errstate(over="ignore"):
        ranking = rank(
            known(columns[0], age=columns[1], accesses=columns[2], coverage=columns[3], semantic=columns[4]),
            preset,
            now=NOON,
        )
    assert all(math.isfinite(score) for score in ranking.scores)
    assert ranking.scores == sorted(ranking.scores, reverse=True)
    assert len(set(ranking.order)) == len(ranking.order) <= preset.limit


@given(st.permutations(range(6)))
def test_the_order_does_not_depend_on_the_order_of_arrival(order: list[int]) -> None:
    texts, ages = [5.0, 5.0, 3.0, 3.0, 3.0, 1.0], [9.0, 9.0, 1.0, 2.0, 2.0, 0.0]
    ids = [name(place) for place in order]
    for preset in (DEFAULT, SKILL, BLEND):
        shuffled = known([texts[place] for place in order], age=[ages[place] for place in order])
        shuffled = Signals(
            ids,
            *(
                getattr(shuffled, field)
                for field in ("text", "coverage", "semantic", "updated", "accesses", "categories", "scopes")
            ),
        )
        ranking = rank(shuffled, preset, now=NOON)
        plain = rank(known(texts, age=ages), preset, now=NOON)
        assert [ids[place] for place in ranking.order] == [name(place) for place in plain.order]


def test_signals_of_an_index_name_category_and_scope() -> None:
    index = Index.build([entry(1, "tea", category=1, scope_tag=THERE, access_count=3), entry(2, "tea", category=0)])
    read = signals(index.candidates(query_terms("tea", now=NOW)), {THERE: Scope.PROJECT})
    assert dict(zip(read.ids, zip(read.categories, read.scopes, strict=True), strict=True)) == {
        name(1): (Category.DECISION, Scope.PROJECT),
        name(2): (Category.PREFERENCE, Scope.USER),
    }
