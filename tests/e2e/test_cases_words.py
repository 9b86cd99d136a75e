"""Cases from the field on languages and scripts: what is written in any of them is found again, and comes back sign by sign."""

import pytest

from tests.e2e.client import SEARCH, Person


@pytest.mark.case(1)
@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("我对花生过敏", "花生过敏"),
        ("每个季度末都要把服务器证书换成新的", "服务器证书"),
        ("私たちは毎週金曜日に進捗を共有します", "進捗"),
        ("우리는 매주 금요일에 배포합니다", "금요일에"),
    ],
)
def test_case_1_words_inside_a_sentence_without_spaces_are_found_first(ann: Person, text: str, inner: str) -> None:
    for other in ("我喜欢喝绿茶", "周五下午不开会", "The deploy script lives in tools"):
        ann.add(other)
    ann.add(text)
    assert ann.found(inner)[0] == text


@pytest.mark.case(2)
def test_case_2_words_of_two_signs_and_of_one_are_found(ann: Person) -> None:
    ann.add("我对花生过敏")
    ann.add("下雨天我骑车去上班")
    ann.add("办公室的打印机在三楼")
    for query, text in (("过敏", "我对花生过敏"), ("雨", "下雨天我骑车去上班"), ("三楼", "办公室的打印机在三楼")):
        assert ann.found(query) == [text]


@pytest.mark.case(4)
@pytest.mark.parametrize(
    ("text", "query"),
    [("配置飞书插件", "飞书插件配置"), ("周末去爬山", "爬山周末去"), ("数据库备份策略", "备份数据库的策略")],
)
def test_case_4_words_in_another_order_still_count_as_words(ann: Person, text: str, query: str) -> None:
    ann.add(text)
    (hit,) = ann.ok("POST", SEARCH, {"query": query, "explain": True})["memories"]
    assert hit["content"] == text
    assert hit["signals"]["text"] > 0
    assert hit["matched"]


@pytest.mark.case(6)
@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("重跑gen-itgc后50条", "itgc"),
        ("用kubectl看日志", "kubectl"),
        ("把v2接口切到nginx上", "nginx"),
        ("Пишем на pythonоснове", "python"),
        ("服务器型号是R740xd两台", "r740xd"),
    ],
)
def test_case_6_a_latin_word_glued_to_other_signs_is_found(ann: Person, text: str, query: str) -> None:
    ann.add("今天的会议改到下午")
    ann.add(text)
    assert ann.found(query) == [text]


@pytest.mark.case(7)
@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Пароль меняем раз в квартал", "пароль"),
        ("กินข้าวแล้ว", "ข้าว"),
        ("أفضل القهوة بدون سكر", "القهوة"),
        ("أفضل القهوة بدون سكر", "قهوة"),
        ("אני אוהב קפה שחור", "קפה"),
        ("मुझे चाय पसंद है", "चाय"),
        ("나는 커피를 좋아한다", "커피"),
        ("Το καφενείο ανοίγει στις οκτώ", "καφενειο"),
        ("We meet at the café", "café"),
        ("We meet at the café", "cafe"),
        ("We meet at the cafe\u0301", "café"),
        ("Die Straße ist gesperrt", "STRASSE"),
        ("Tôi thích uống cà phê sữa", "ca phe"),
        ("İstanbul ofisi pazartesi açılıyor", "istanbul"),
    ],
)
def test_case_7_words_of_every_script_are_found(ann: Person, text: str, query: str) -> None:
    ann.add("Nothing of this is meant")
    ann.add(text)
    assert ann.found(query) == [text]


@pytest.mark.case(10)
@pytest.mark.parametrize(
    ("said", "facts"),
    [
        ("我叫林小雨，在蓝屏咖啡上班", ["我叫林小雨，在蓝屏咖啡上班"]),
        ("记住：我的名字是 Zoë Ångström，住在 Malmö", ["我的名字是 Zoë Ångström，住在 Malmö"]),
        ("I prefer Qdrant over Pinecone for 蓝屏咖啡", ["I prefer Qdrant over Pinecone for 蓝屏咖啡"]),
    ],
)
def test_case_10_a_fact_keeps_the_language_and_every_sign_of_its_names(
    ann: Person, said: str, facts: list[str]
) -> None:
    task = ann.learn(said)
    assert task["learned"]["inserted"] == len(facts)
    assert ann.texts() == facts


@pytest.mark.case(36)
@pytest.mark.parametrize(
    ("said", "name"),
    [("my friend Kim hates football", "Kim"), ("我朋友小李不喜欢吃辣", "小李"), ("My sister prefers tea", "My sister")],
)
def test_case_36_what_is_said_of_somebody_else_stays_theirs(ann: Person, said: str, name: str) -> None:
    ann.learn(said)
    assert all(name in text for text in ann.texts()), "a fact without its person would read as the owner's own"
    assert ann.texts() == [said]


@pytest.mark.case(17)
def test_case_17_line_ends_of_every_kind_come_back_as_they_went(ann: Person) -> None:
    text = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\r\nh"
    made = ann.add(text)
    assert ann.texts() == [text]
    assert ann.ok("GET", f"/v1/memories/{made['id']}")["content"] == text
    ann.ok("PATCH", f"/v1/memories/{made['id']}", {"importance": 9})
    history = ann.ok("GET", f"/v1/memories/{made['id']}/history")["versions"]
    assert [version["content"] for version in history] == [text, text]
