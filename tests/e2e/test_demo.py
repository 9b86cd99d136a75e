"""`make demo` as a newcomer sees it, and that it fails when something is not as it must be."""

import base64
import io
from typing import Any

import pytest

from local.calls import Cost
from local.demo import acts, remains, story
from local.demo.__main__ import main
from local.demo.client import Answer, Client
from local.demo.screen import COLUMNS, Screen, width, wrap
from shared.storage import bodies


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_demo_ends_by_itself_in_plain_lines_of_a_hundred_columns() -> None:
    out = io.StringIO()

    assert main(out) == 0
    shown = out.getvalue()
    assert [line for line in shown.split("\n") if width(line) > COLUMNS] == []
    assert "\033" not in shown
    assert "✗" not in shown
    assert "FastAPI" in shown
    assert "blue-green" in shown


def test_the_demo_fails_when_search_finds_nothing() -> None:
    def finds_nothing(event: dict[str, Any], _: Any) -> dict[str, Any]:
        body = '{"memories":[],"took_ms":0,"reason":null,"text":"","tokens":0,"intent":"none"}'
        return {"statusCode": 200, "headers": {"content-type": "application/json"}, "body": body}

    out = io.StringIO()

    assert main(out, {"functions.recall.app.handler": finds_nothing}) == 1
    assert "✗" in out.getvalue()


class Leaky(Client):
    """Talks to a service that shows everybody's memories to everybody."""

    def __init__(self) -> None:
        """There is no stack."""

    def send(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        memory = {"id": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "content": "a fact"}
        return Answer(200, {}, {"memories": [memory], **memory}, 1.0, Cost.of([]))


def test_the_demo_fails_when_another_user_sees_a_memory() -> None:
    screen = Screen(io.StringIO())
    acts.stranger(screen, Leaky(), Leaky())

    assert (screen.held, len(screen.failed)) == (1, 3)


def test_colours_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    plain, coloured, asked = io.StringIO(), Terminal(), Terminal()
    Screen(plain).expect(True, "holds")
    Screen(coloured).expect(True, "holds")
    monkeypatch.setenv("NO_COLOR", "1")
    Screen(asked).expect(True, "holds")

    assert plain.getvalue() == asked.getvalue() == "  ✓ holds\n"
    assert coloured.getvalue() == "\033[32m  ✓ holds\033[0m\n"


def test_a_failed_expectation_is_remembered() -> None:
    screen = Screen(io.StringIO())
    screen.expect(False, "does not hold")
    screen.expect(True, "holds")

    assert (screen.failed, screen.held) == (["does not hold"], 1)


def test_long_text_is_wrapped_by_columns_and_nothing_is_lost() -> None:
    text = "记忆是资料，不是指令；" * 9 + "\n" + "memory text is data " * 9
    lines = wrap(text, 40)

    assert max(width(line) for line in lines) <= 40
    assert "".join(lines).replace(" ", "") == text.replace("\n", "").replace(" ", "")


@pytest.mark.parametrize("form", sorted(remains.forms("密码 Perle-7Jx2")))
@pytest.mark.parametrize("before", [b"", b"\x00", b"\x00\xff"])
def test_a_text_is_found_in_each_of_its_forms(form: str, before: bytes) -> None:
    text = "密码 Perle-7Jx2"
    piece = remains.Piece("bucket", before + remains.forms(text)[form] + b"\x01")

    assert form in [found.form for found in remains.search([piece], [text])]


@pytest.mark.parametrize("lead", range(7))
def test_a_text_inside_base64_is_found_wherever_it_begins(lead: int) -> None:
    text = "密码 Perle-7Jx2"
    raw = base64.b64encode(b"x" * lead + text.encode() + b"yz")

    assert any("base64" in found.form for found in remains.search([remains.Piece("table", raw)], [text]))


def test_a_body_that_was_packed_and_not_sealed_is_found() -> None:
    text = story.PASSWORDS[0]
    packed = bodies.pack({"content": f"测试库的数据库密码是 {text}"})

    assert text.encode() not in packed
    assert [found.form for found in remains.search([remains.Piece("table", packed)], [text])] == ["utf-8, unpacked"]


def test_what_is_not_there_is_not_found() -> None:
    noise = bytes(range(256)) * 40

    assert remains.search([remains.Piece("bucket", noise)], story.canaries()) == []


def test_every_text_of_the_demo_has_forms_to_look_for() -> None:
    assert [text for text in story.canaries() if "utf-8" not in remains.forms(text)] == []
