"""The index: exact scores, exact filters, statistics over everything, and names that come back as they went in."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.recall.index import Candidates, Entry, Index, TermCache, Where
from shared.recall.scoring import LONG, SHORT
from shared.text.tokens import query_terms
from tests.unit.recall.made import BEFORE, HERE, NOW, THERE, entry, memories, name, places, scored, texts


def found(index: Index, text: str, **how: object) -> Candidates:
    return index.candidates(query_terms(text, now=NOW), **how)  # type: ignore[arg-type]


def pairs(candidates: Candidates) -> dict[str, float]:
    return dict(zip(candidates.ids, candidates.text.tolist(), strict=True))


@given(memories(), texts)
def test_scores_are_those_of_the_formula_over_plain_dictionaries(entries: list[Entry], text: str) -> None:
    wanted = scored(query_terms(text, now=NOW), entries, *SHORT)
    assert pairs(found(Index.build(entries), text)) == pytest.approx(wanted)


def test_pasted_text_is_scored_with_the_parameters_for_long_queries() -> None:
    entries = [entry(n, " ".join(f"word{m}" for m in range(n, n + 20))) for n in range(12)]
    text = " ".join(f"word{n}" for n in range(30))
    assert pairs(found(Index.build(entries), text)) == pytest.approx(scored(query_terms(text, now=NOW), entries, *LONG))


@given(memories(), memories(), st.frozensets(places), texts)
def test_index_and_changed_memories_score_as_one_index_over_everything(
    indexed: list[Entry], changed: list[Entry], gone: frozenset[int], text: str
) -> None:
    masked = {name(place) for place in gone} | {each.id for each in changed}
    union = [each for each in indexed if each.id not in masked] + changed
    whole = found(Index.build(union), text)
    split = found(Index.build(indexed), text, masked=masked, changed=changed)
    assert split.ids == whole.ids
    assert split.text.tolist() == pytest.approx(whole.text.tolist())
    assert split.coverage.tolist() == pytest.approx(whole.coverage.tolist())
    assert split.scope_tags == whole.scope_tags
    for column in ("versions", "created", "updated", "importance", "categories", "statuses", "accesses"):
        assert getattr(split, column).tolist() == getattr(whole, column).tolist()


@given(memories(), st.frozensets(places), texts)
def test_masked_memories_never_come_out(entries: list[Entry], gone: frozenset[int], text: str) -> None:
    masked = {name(place) for place in gone}
    assert masked.isdisjoint(found(Index.build(entries), text, masked=masked).ids)


@given(
    memories(),
    memories(),
    texts,
    st.none() | st.frozensets(st.sampled_from((HERE, THERE))),
    st.none() | st.frozensets(st.integers(0, 2)),
    st.none() | st.frozensets(st.integers(0, 7)),
    st.tuples(*[st.none() | st.integers(0, 30)] * 2, st.none() | st.integers(0, 3)),
)
def test_filters_let_through_exactly_what_they_allow(
    indexed: list[Entry], changed: list[Entry], text: str, scopes: frozenset[bytes] | None,
    statuses: frozenset[int] | None, categories: frozenset[int] | None, times: tuple[int | None, int | None, int | None],
) -> None:  # fmt: skip
    first, last, living = times
    where = Where(
        scopes, statuses, categories,
        None if first is None else BEFORE + first * 86_400, None if last is None else BEFORE + last * 86_400,
        living_at=None if living is None else BEFORE + living,
    )  # fmt: skip
    by_id = {each.id: each for each in [*indexed, *changed]}
    free = pairs(found(Index.build(indexed), text, changed=changed))
    kept = pairs(found(Index.build(indexed), text, changed=changed, where=where))
    assert kept == {known: score for known, score in free.items() if where.allows(by_id[known])}


@given(memories(), texts, st.integers(0, 12))
def test_the_first_k_are_the_best_k_and_ties_go_to_the_newer_then_the_higher_id(
    entries: list[Entry], text: str, k: int
) -> None:
    index = Index.build(entries)
    everything = found(index, text)
    keys = list(zip((-everything.text).tolist(), (-everything.updated).tolist(), everything.ids, strict=True))
    assert keys == sorted(sorted(keys, key=lambda key: key[2], reverse=True), key=lambda key: key[:2])
    assert found(index, text, k=k).ids == everything.ids[:k]
    half = len(entries) // 2
    split = found(Index.build(entries[:half]), text, changed=entries[half:], k=k)
    assert split.ids == everything.ids[:k]


@given(memories(), texts)
def test_building_in_another_order_gives_the_same_bytes(entries: list[Entry], text: str) -> None:
    assert Index.build(entries).pack() == Index.build(reversed(entries)).pack()


@given(memories(), memories(), texts)
def test_asking_again_about_what_was_read_scores_it_with_the_changed_memories(
    indexed: list[Entry], changed: list[Entry], text: str
) -> None:
    search = Index.build(indexed).search(query_terms(text, now=NOW), masked={each.id for each in changed})
    first = search.candidates(3)
    second = search.candidates(20, changed=changed, among=first)
    everything = pairs(search.candidates(99, changed=changed))
    read = set(first.ids) | {each.id for each in changed}
    assert pairs(second) == {known: score for known, score in everything.items() if known in read}


@given(memories(), memories(), texts, texts)
def test_more_terms_add_to_what_was_found_what_one_query_of_all_terms_would_give(
    indexed: list[Entry], changed: list[Entry], text: str, more: str
) -> None:
    index, masked = Index.build(indexed), {each.id for each in changed}
    asked = query_terms(text, now=NOW)
    weights = query_terms(more, now=NOW).weights
    further = replace(asked, weights={term: 0.1 for term in weights if term not in asked.weights})
    first = index.search(asked, masked=masked).candidates(changed=changed)
    fed = first.plus(index.search(further, masked=masked).scores(first, changed=changed))
    whole = index.search(replace(asked, weights=asked.weights | further.weights), masked=masked)
    everything = pairs(whole.candidates(99, changed=changed))
    assert pairs(fed) == pytest.approx({known: everything[known] for known in first.ids})
    assert fed.text.tolist() == sorted(fed.text.tolist(), reverse=True)


def test_the_higher_version_of_an_id_is_the_one_indexed() -> None:
    old, new = entry(1, "tea", version=3), entry(1, "coffee", version=4)
    for order in ([old, new], [new, old]):
        index = Index.build(order)
        assert index.versions() == {name(1): 4}
        assert not found(index, "tea").ids
        assert found(index, "coffee").ids == [name(1)]


def test_ids_that_are_none_are_passed_over_when_masking() -> None:
    index = Index.build([entry(1)])
    assert found(index, "tea", masked={"", "x" * 26, "ü" * 26, name(2)}).ids == [name(1)]


def test_an_empty_index_finds_nothing_but_the_changed() -> None:
    index = Index.open(Index.build([]).pack())
    assert len(index) == 0
    assert index.ids() == []
    assert len(found(index, "tea")) == 0
    assert found(index, "tea", changed=[entry(1)], masked={name(7)}).ids == [name(1)]


def test_a_query_without_words_finds_nothing() -> None:
    assert found(Index.build([entry(1)]), "？ \u200b").ids == []


def test_coverage_is_the_share_of_the_querys_words() -> None:
    index = Index.build([entry(1, "green tea"), entry(2, "tea")])
    assert dict(zip((c := found(index, "green tea 🎉")).ids, c.coverage.tolist(), strict=True)) == pytest.approx(
        {name(1): 2 / 3, name(2): 1 / 3}
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "too-short"}, {"id": "ü" * 26}, {"id": "8" * 26}, {"id": "I" * 26}, {"created_at": -1}, {"updated_at": 2**32},
        {"scope_tag": b"short"}, {"importance": 11},
        {"category": 8},
        {"status": 4}, {"version": -1},
        {"version": 2**70},
    ],
)  # fmt: skip
def test_memories_of_a_wrong_form_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        Index.build([entry(1, **wrong)])


def test_embeddings_of_two_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="one length"):
        Index.build([entry(1, vector=b"\1\2"), entry(2, vector=b"\1\2\3")])


def test_the_nearest_by_meaning_join_those_that_match_by_word() -> None:
    near, far, none = (
        entry(1, "espresso", vector=bytes([127, 0])),
        entry(2, "tea", vector=bytes([0, 127])),
        entry(3, "tea"),
    )
    index = Index.open(Index.build([near, far, none]).pack())
    vector = np.array([1.0, 0.0], np.float32)
    changed = entry(4, "mocha", vector=bytes([120, 40]))
    search = index.search(query_terms("tea", now=NOW))
    known = search.candidates(changed=[changed, entry(5, "tea")], vector=vector)
    cosines = dict(zip(known.ids, known.semantic.tolist(), strict=True))
    assert cosines == pytest.approx(
        {name(1): 1.0, name(2): 0.0, name(3): 0.0, name(4): 120 / 127, name(5): 0.0}, abs=1e-6
    )
    assert set(search.candidates().ids) == {name(2), name(3)}


def test_a_vector_of_another_length_is_as_good_as_none() -> None:
    index = Index.build([entry(1, "tea", vector=bytes([127, 0]))])
    known = index.search(query_terms("tea", now=NOW)).candidates(vector=np.ones(3, np.float32))
    assert known.semantic.tolist() == [0.0]


def test_the_cache_keeps_terms_by_owner_id_and_version_and_drops_the_least_recently_used() -> None:
    cache = TermCache(capacity=2)
    first = cache.terms("a", entry(1, "tea"))
    assert cache.terms("a", entry(1, "other text of the same version")) is first
    assert cache.terms("b", entry(1, "coffee")).counts.keys() != first.counts.keys()
    assert cache.terms("a", entry(1, "x")) is first
    assert cache.terms("a", entry(1, "x", version=2)) is not first
    assert len(cache) == 2
    assert cache.terms("a", entry(1, "x")) is first
    cache.forget("a")
    assert len(cache) == 0


def test_a_cache_changes_no_score() -> None:
    cache = TermCache()
    search = Index.build([entry(1)]).search(query_terms("tea", now=NOW))
    for _ in range(2):
        cached = search.candidates(changed=[entry(2, "black tea")], cache=cache, owner="a")
        assert pairs(cached) == pairs(search.candidates(changed=[entry(2, "black tea")]))


def test_terms_whose_hashes_collide_become_one_term(monkeypatch: pytest.MonkeyPatch) -> None:
    # a collision of 48 bits cannot be made up in a test's time, so the hash is made small
    monkeypatch.setattr("shared.recall.index.hashed", lambda term: len(term) % 2)
    index = Index.build([entry(1, "tea coffee milk"), entry(2, "rye")])
    assert len(index.columns.terms) == 2
    assert Index.open(index.pack()).ids() == [name(1), name(2)]


@given(memories(30), memories(10), st.integers(1, 12), st.integers(0, 8), st.integers(0, 8))
def test_shares_of_scopes_are_among_the_best_before_better_ones_of_others(
    stored: list[Entry], changed: list[Entry], k: int, here: int, there: int
) -> None:
    shares = [({HERE}, here), ({THERE}, there)]
    masked = [each.id for each in changed]
    search = Index.build(stored).search(query_terms("tea 花生", now=NOW), masked=masked)
    everything = search.candidates(99, changed=changed)
    found = search.candidates(k, changed=changed, shares=shares)
    order = {memory_id: place for place, memory_id in enumerate(everything.ids)}
    assert [order[each] for each in found.ids] == sorted(order[each] for each in found.ids)
    tags = dict(zip(everything.ids, everything.scope_tags, strict=True))
    wanted = {
        each for tag, least in ((HERE, here), (THERE, there)) for each in [i for i in tags if tags[i] == tag][:least]
    }
    assert wanted <= set(found.ids)
    others = [each for each in everything.ids if each not in wanted]
    assert set(found.ids) == wanted | set(others[: max(k - len(wanted), 0)])
