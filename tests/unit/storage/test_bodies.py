"""Bodies as bytes: what goes in comes out, small, and nothing else is taken."""

import hashlib
import json
import zlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.errors import SealBroken
from shared.domain.ids import ulid
from shared.domain.memory import Category, Memory, Origin, Scope, Source, Status, from_body, to_body
from shared.storage.bodies import BODY_BYTES, pack, unpack
from shared.storage.dictionary import CURRENT, DICTIONARIES
from tests.fakes import SeededRandom

FACTS = """
林小雨在蓝屏咖啡负责前端
周会改到每周三上午十点
灯塔项目不再支持旧版浏览器
合同里写明付款期限是三十天
测试环境的域名以 staging 开头
回答先给结论再给理由
小王下个月调去上海办公室
图片一律先压缩再上传
我养了一只叫年糕的猫
生产环境禁止手动改数据
日志保留九十天后自动删除
她的女儿今年上小学二年级
订单号由日期和六位流水号组成
晚上九点以后不要发提醒
这台打印机只能双面打印
接口返回的时间都用协调世界时
爷爷做过心脏手术，不能喝浓茶
新同事需要先读架构文档
搬家定在二月的最后一个周末
报销单要附上电子发票
部署失败时先回滚再排查
喜欢靠窗的座位
西瓜比芒果更受欢迎
发布说明由产品经理撰写
导出的表格不要合并单元格
Harriet owns the billing service since spring
Invoices above five thousand need two signatures
The staging cluster is rebuilt every night
Never rebase a branch that somebody else has pulled
My bicycle is parked in the blue garage
Answers should start with the conclusion
Nightly backups are kept for ninety days
The client in Oslo pays in Norwegian kroner
Use tabs in Makefiles and four spaces in Python
Her daughter starts school in September
Feature flags live in a file next to the code
The printer on the third floor only prints duplex
Grandfather had heart surgery and avoids strong tea
Retries stop after three attempts
The warehouse opens at six and closes at noon
Prefer window seats on trains
Every endpoint returns times in UTC
Our logo must not be stretched or recoloured
The marathon training plan ends on May 3
Rollback first, investigate afterwards
Release notes are written by the product owner
Watermelon beats mango at every team lunch
Do not merge cells in exported sheets
The landlord raises the rent by two percent a year
Order numbers hold the date and six digits
""".strip().split("\n")


def memory(number: int) -> Memory:
    random = SeededRandom(number)
    at = datetime(2026, 11, 30, 16, 5, tzinfo=UTC) + timedelta(hours=number, milliseconds=number * 37)
    origin = Origin(ulid(at, random), f"session-{number}", at - timedelta(seconds=40), FACTS[number] + "!", "rules")
    return Memory(
        ulid(at, random),
        1,
        FACTS[number],
        list(Scope)[number % 2],
        list(Category)[number % 8],
        5 + number % 5,
        Source.AUTO,
        Status.ACTIVE,
        at,
        at,
        project=None if number % 2 == 0 else "lighthouse",
        tags=("#work",) if number % 4 == 0 else (),
        origin=origin,
    )


BODIES = [to_body(memory(number)) for number in range(50)]


def deflated(raw: bytes, dictionary: bytes = b"") -> bytes:
    compress = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_DEFAULT_STRATEGY, dictionary)
    return compress.compress(raw) + compress.flush()


def test_a_memory_comes_back_as_it_was() -> None:
    for number, body in enumerate(BODIES):
        assert from_body(memory(number).id, 1, unpack(pack(body))) == memory(number)


def test_the_dictionary_halves_what_deflate_alone_leaves_of_50_chinese_and_english_facts() -> None:
    plain = [json.dumps(body, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode() for body in BODIES]
    with_dictionary = sum(len(pack(body)) for body in BODIES) / len(BODIES)
    without = sum(len(deflated(raw)) for raw in plain) / len(BODIES)
    assert len(BODIES) == 50
    assert with_dictionary < 0.5 * without
    assert with_dictionary < 125


trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), trees, max_size=6))
def test_every_body_of_json_comes_back(body: dict[str, Any]) -> None:
    assert unpack(pack(body)) == body


def test_line_breaks_of_every_kind_come_back() -> None:
    body = {"content": "a\u2028b\u2029c\x85d\r\n\x00"}
    assert unpack(pack(body)) == body


def test_equal_bodies_give_equal_bytes_whatever_their_order() -> None:
    assert pack({"a": 1, "b": {"c": 2, "d": 3}}) == pack({"b": {"d": 3, "c": 2}, "a": 1})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "CANARY\ud83d"])
def test_what_json_cannot_say_is_refused_without_being_shown(value: object) -> None:
    with pytest.raises(ValueError, match=r"surrogate|JSON") as caught:
        pack({"content": value})
    assert "CANARY" not in repr(caught.value)


def test_a_published_dictionary_never_changes() -> None:
    """Stored bodies need its very bytes. A better one gets the next number, and a line here."""
    published = {1: "c1712145c7a4c317c11c5bf780a529841cd423de32b8297590a6c453495d876d"}
    assert {number: hashlib.sha256(text).hexdigest() for number, text in DICTIONARIES.items()} == published
    assert max(DICTIONARIES) == CURRENT


def test_bodies_of_an_older_dictionary_stay_readable(monkeypatch: pytest.MonkeyPatch) -> None:
    old = pack(BODIES[0])
    newer = {**DICTIONARIES, 2: b'"content":"'}
    monkeypatch.setattr("shared.storage.bodies.DICTIONARIES", newer)
    monkeypatch.setattr("shared.storage.bodies.CURRENT", 2)
    new = pack(BODIES[0])
    assert (old[0], new[0]) == (1, 2)
    assert unpack(old) == unpack(new) == BODIES[0]


def raw(text: bytes) -> bytes:
    return bytes([CURRENT]) + deflated(text, DICTIONARIES[CURRENT])


GOOD = pack(BODIES[0])
MALFORMED = {
    "nothing": b"",
    "a number only": GOOD[:1],
    "an unknown dictionary": b"\xff" + GOOD[1:],
    "cut": GOOD[:-1],
    "padded": GOOD + b"\x00",
    "no deflate": bytes([CURRENT]) + b"\xff" * 40,
    "a list": raw(b"[1]"),
    "null": raw(b"null"),
    "not JSON": raw(b"{"),
    "NaN": raw(b'{"a":NaN}'),
    "not UTF-8": raw(b'{"a":"\xff"}'),
    "nested too deeply": raw(b'{"a":' + b"[" * 100_000),
}


@pytest.mark.parametrize("packed", MALFORMED.values(), ids=MALFORMED.keys())
def test_anything_else_is_a_broken_seal(packed: bytes) -> None:
    with pytest.raises(SealBroken) as caught:
        unpack(packed)
    assert caught.value.__cause__ is None
    assert not str(caught.value)


@given(st.binary(max_size=80))
def test_arbitrary_bytes_are_a_broken_seal(packed: bytes) -> None:
    with pytest.raises(SealBroken):
        unpack(packed)


def test_a_body_that_inflates_over_the_limit_is_not_inflated() -> None:
    fits = {"content": "x" * (BODY_BYTES - 14)}
    assert unpack(pack(fits)) == fits
    with pytest.raises(SealBroken):
        unpack(pack({"content": "x" * (BODY_BYTES - 13)}))
    assert unpack(pack({"a": "b"}), limit=9) == {"a": "b"}
    with pytest.raises(SealBroken):
        unpack(pack({"a": "b"}), limit=8)
    with pytest.raises(SealBroken):
        unpack(raw(b'{"a":"' + b"x" * 50_000_000))
