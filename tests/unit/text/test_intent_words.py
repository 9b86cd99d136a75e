"""Words that are signals: the owner's own, and those of the tables."""

import subprocess
from pathlib import Path

import pytest

from shared.text import clauses, intent_words
from shared.text.intent import CustomWords, decide
from shared.text.keywords import Words


@pytest.mark.parametrize("phrase", [phrase.strip("^| ") for phrase in intent_words.tables().identity.phrases])
def test_every_identity_phrase_asks_for_persona_and_broad_recall(phrase: str) -> None:
    made = decide(phrase, new_session=False)
    assert (made.kind, made.broad, made.reason) == ("strong", True, "signal_person")
    assert decide(phrase.upper().replace("'", "’") + "?", new_session=False).broad


def test_there_are_more_than_forty_three_identity_phrases_in_each_language() -> None:
    phrases = set(intent_words.tables().identity.phrases)
    assert len({phrase for phrase in phrases if phrase.isascii()}) >= 43
    assert len({phrase for phrase in phrases if not phrase.isascii()}) >= 43


def words(*, zh: tuple[str, ...] = (), en: tuple[str, ...] = ()) -> Words:
    return Words(zh, en)


def test_custom_words_of_the_owner_are_strong_signals() -> None:
    own = CustomWords(custom=words(zh=("灰度",), en=("Zebra",)))
    for text in ("灰度比例是多少", "where is the ZEBRA"):
        assert decide(text, new_session=False).kind == "none"
        assert decide(text, new_session=False, custom=own)[:2] == ("strong", "signal_custom")
    assert decide("where is the ZEBRA", new_session=False, custom=own).signals == ("Zebra",)
    assert decide("zebras", new_session=False, custom=own).kind == "none"


def test_excluded_words_of_the_owner_suppress_every_signal() -> None:
    own = CustomWords(custom=words(zh=("灰度",)), excluded=words(zh=("薪水",), en=("salary",)))
    for text in ("继续昨天的薪水计算", "who am I and what is my salary", "灰度和薪水"):
        made = decide(text, new_session=True, custom=own)
        assert (made.kind, made.reason, made.recall, made.broad) == ("excluded", "excluded_word", "no", False)


def test_words_of_the_owner_are_not_looked_for_in_code_and_quotations() -> None:
    own = CustomWords(custom=words(en=("zebra",)), excluded=words(en=("salary",)))
    assert decide("what is `zebra`", new_session=False, custom=own).kind == "none"
    assert decide("```\nsalary = 1\n```\ncontinue", new_session=False, custom=own).kind == "strong"


def test_a_question_about_the_person_with_a_custom_word_stays_broad() -> None:
    own = CustomWords(custom=words(en=("zebra",)))
    assert decide("do you remember me and the zebra", new_session=False, custom=own).broad


def test_the_tables_hold_no_phrase_twice_and_only_phrases_that_can_be_found() -> None:
    tables = intent_words.tables()
    named = [
        *tables.strong.values(),
        tables.identity,
        tables.personal,
        tables.pointers,
        tables.topic_change,
        tables.aside,
    ]
    for table in [*named, tables.look_alikes, tables.impersonal, tables.wordings]:
        assert len(set(table.phrases)) == len(table.phrases)
        for phrase in table.phrases:
            shown = clauses.normal(phrase.replace("^", "").replace("|", "，").replace("…", ""))
            assert phrase.count("…") <= 1
            assert intent_words.Phrases([phrase]).anywhere(shown), phrase


def test_the_layer_that_lambda_gets_holds_the_tables(tmp_path: Path) -> None:
    shared = Path(intent_words.__file__).parents[1]
    subprocess.run(["make", "-s", "-C", str(shared), "build-SharedLayer", f"ARTIFACTS_DIR={tmp_path}"], check=True)  # noqa: S603, S607
    copied = tmp_path / "python" / "shared" / "text" / "data" / "intent.json"
    assert copied.read_bytes() == (shared / "text" / "data" / "intent.json").read_bytes()


def test_a_gap_in_a_phrase_ends_at_the_clause_and_at_another_person() -> None:
    table = intent_words.Phrases(["我…什么", "what … do i"])
    assert [hit.phrase for hit in table.found(" ^ | 我平时爱喝什么 | ")] == ["我…什么"]
    assert [hit.phrase for hit in table.found(" ^ | what kind of tea do i like | ")] == ["what … do i"]
    assert not table.anywhere(" ^ | 我来了 | 什么 | ")
    assert not table.anywhere(" ^ | 我和你说什么 | ")
    assert not table.anywhere(" ^ | what now | do i like | ")
    assert not table.anywhere(f" ^ | what {'very ' * 20}good do i like | ")
    assert table.without(" ^ | so what do i say | ").split() == ["^", "|", "so", "~", "say", "|"]
