"""Every scan of text ends on 200 KB of what it likes least; a pattern that backtracks would hang here."""

import pytest

from shared.text import endings, intent, questions, requests, rules, secrets, sentences, silence

SIZE = 200_000
PIECES = [
    *(
        "password:",
        "password for a b ",
        "密码我已经",
        "eyJaaaaaaa.",
        "-----BEGIN PRIVATE KEY-----\n",
        "x://a:",
        "secret_key=",
    ),
    *("（", '"', "？a", "... ", "1. ", "```\n", "好的", "please ", "A1b2C3d4", "a@"),
    *("把", "请", "不要把这", "don't write ", "none of this ", "请记住", "\n", ",，"),
    *("nothing i ", "strike that ", "what i said ", "rather this was ", "别把这个", "我刚才说的话", "当我从来"),
]


@pytest.mark.no_cover
@pytest.mark.parametrize("piece", PIECES)
def test_two_hundred_kilobytes_of_one_piece_are_read_to_the_end(piece: str) -> None:
    text = piece * (SIZE // len(piece)) + "x"
    assert secrets.unmask(secrets.mask(text)) == text
    assert sum(len(sentence) for sentence in sentences.split(text)) <= len(text)
    assert rules.extract([text], has_project=False, limit=5).too_long >= 0
    assert intent.decide(text, new_session=False).recall in {"yes", "no", "if_good"}
    assert questions.is_question(text + "?")
    assert silence.suppresses(text) in {"", "sentence", "message", "conversation"}
    assert len(requests.without_request(text)) <= len(text)
    assert not endings.ends(text)
    assert not questions.is_small_talk(text)
