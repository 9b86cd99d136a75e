"""Of two versions of a fact the newer comes first; of two facts about one thing, the one that the question asks for."""

import pytest

from shared.recall.index import Index
from shared.recall.versions import Find, Question, newer_first
from shared.text.tokens import query_terms
from tests.unit.recall.made import NOW, entry


def order(ask: str, *finds: tuple[str, float], scores: tuple[float, ...] = ()) -> list[int]:
    """Places of (text, time of update) in the order they come out in, asked among these and a few others."""
    others = ("Ada likes green tea", "the museum opens at ten", "小波每天去公园跑步", "港口的灯是绿色的")
    index = Index.build(entry(place, text) for place, text in enumerate((*(text for text, _ in finds), *others), 1))
    question = Question(ask, query_terms(ask, now=NOW), index)
    given = scores or (1.0,) * len(finds)
    return newer_first(question, [Find(text, at, score) for (text, at), score in zip(finds, given, strict=True)])


VERSIONS = [
    (
        "Which port does the staging server use?",
        "The staging server uses port 8080",
        "The staging server uses port 9090",
    ),
    ("Who is my manager?", "My manager is Carla", "My manager is Dmitri now"),
    ("Who is my manager?", "My manager is Carla", "As of this spring, my manager is Dmitri"),
    ("When is our standup?", "Our standup is at 9:30", "Standup moved to 10:15"),
    ("Where does the summer trip go?", "The summer trip goes to Croatia", "We rebooked the summer trip to Portugal"),
    ("我住在哪里？", "我住在杭州", "现在我住在上海"),
    ("部署日是哪天？", "部署日是周一", "部署日改到周四了"),
    ("停车场的密码是多少？", "停车场的密码是4417", "停车场换了密码，是9052"),
    ("測試環境有幾台機器？", "測試環境有四台機器", "测试环境现在有六台机器"),
    ("会議はいつですか", "会議は月曜日です", "会議は木曜日です"),
    ("Когда планёрка?", "Планёрка в понедельник утром", "Планёрка в четверг утром"),
    (
        "Where is the shop's staging server kept?",
        "The staging server of the shop is kept by Ada and Bob in the small room behind the kitchen in Oslo",
        "The staging server of the shop is now kept by Ada and Bob in the small room behind the kitchen in Bergen",
    ),
]


@pytest.mark.parametrize(("ask", "old", "new"), VERSIONS)
def test_the_newer_version_of_a_fact_comes_before_the_outdated_one(ask: str, old: str, new: str) -> None:
    assert order(ask, (old, 1.0), (new, 2.0), scores=(1.0, 0.8)) == [1, 0]
    assert order(ask, (new, 2.0), (old, 1.0)) == [0, 1]


@pytest.mark.parametrize(
    ("ask", "old", "new"),
    [
        ("Does Ann like tea?", "Ann likes tea", "Ann likes coffee in the morning"),
        ("Where is the staging server?", "The staging server is in Oslo", "The staging server runs Debian"),
        ("Where is the staging server?", "The staging server is in Oslo", "The staging server now runs Debian"),
        ("How many people are in team Heron?", "Team Heron has nine people", "Team Heron has switched to Kanban"),
        ("What does Clara teach?", "Clara teaches maths", "Clara has moved to a bigger flat"),
        ("What is on port 8443?", "Port 8443 is the admin console", "Port 9443 is the metrics page"),
        ("错误码E17表示什么？", "错误码E17表示磁盘满了", "错误码E42表示风扇停了"),
        ("哥哥住在哪里？", "哥哥住在成都", "哥哥是一名护士"),
        ("代理服务器在哪里？", "代理服务器在奥斯陆", "代理服务器现在是一台虚拟机"),
        ("林老师教什么？", "林老师教数学", "林老师搬到大房子了"),
        (
            "Where did Caroline go?",
            "Caroline went to a support group in the old town hall last Tuesday and liked what people said there",
            "Caroline went to a concert with her two children and their cousins and liked the band from Lisbon",
        ),
    ],
)
def test_another_fact_about_the_same_thing_stays_behind_the_one_that_is_asked_for(ask: str, old: str, new: str) -> None:
    assert order(ask, (old, 1.0), (new, 2.0)) == [0, 1]


def test_a_score_that_is_far_apart_decides_between_two_that_say_nothing_of_a_replacement() -> None:
    versions = (("the shop runs on port 8080", 1.0), ("the shop runs on port 9090", 2.0))
    assert order("shop port", *versions, scores=(1.0, 0.6)) == [0, 1]
    assert order("shop port", *versions, scores=(1.0, 0.75)) == [1, 0]
    replaced = (versions[0], ("the shop switched to port 9090", 2.0))
    assert order("shop port", *replaced, scores=(1.0, 0.6)) == [1, 0]


def test_a_question_that_names_the_older_number_is_about_the_older_one() -> None:
    versions = (("the shop runs on port 8080", 1.0), ("the shop runs on port 9090 now", 2.0))
    assert order("does the shop run on port 8080", *versions) == [0, 1]
    assert order("which port does the shop run on", *versions) == [1, 0]


def test_words_that_find_nothing_in_either_leave_it_to_the_versions_themselves() -> None:
    assert order("咖啡", ("the crew has espresso from Brazil", 1.0), ("the crew has espresso from Peru", 2.0)) == [1, 0]
    assert order("咖啡", ("🎉", 1.0), ("...", 2.0)) == [0, 1]


def test_the_newest_of_several_versions_takes_the_best_place() -> None:
    text = "the shop of Ada runs on port {} since the move"
    finds = [(text.format(8080), 1.0), ("Ada likes tea", 9.0), (text.format(9090), 2.0), (text.format(7070), 3.0)]
    assert order("which port does the shop of Ada use", *finds)[:2] == [3, 1]
