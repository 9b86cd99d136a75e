"""Finding, masking and restoring secrets. Every value here is made up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.secrets import judge, labelled, score
from shared.text.secrets import MASK, Masked, contains_mask, find, mask, unmask
from tests.unit.text.opencc import TABLE

PEM = "-----BEGIN RSA PRIVATE KEY-----\nRkFLRUZBS0VGQUtFRkFLRQ==\nRkFLRQ==\n-----END RSA PRIVATE KEY-----"


def values(text: str) -> list[str]:
    return [text[secret.start : secret.end] for secret in find(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("密码是 hunter2", ["hunter2"]),
        ("密码：hunter2，用户名 lin", ["hunter2"]),
        ("口令：天王盖地虎", ["天王盖地虎"]),
        ("我们把密码统一设置为“Fake Pass 2024”", ["Fake Pass 2024"]),
        ("WiFi密码：coffee8888", ["coffee8888"]),
        ("用户名和密码分别是 root 和 toor-fake-1", ["toor-fake-1"]),
        ("密码：\nhunter2x", ["hunter2x"]),
        ("password: X9y8z7", ["X9y8z7"]),
        ("password is swordfish", ["swordfish"]),
        ("password hunter2", ["hunter2"]),
        ("pwd=fake_pwd_1", ["fake_pwd_1"]),
        ("wifi pw: fake-99-salad", ["fake-99-salad"]),
        ("测试库 pw：fake8888", ["fake8888"]),
        ("passwd: fake1234", ["fake1234"]),
        ("my API key is fake-key-001122", ["fake-key-001122"]),
        ("token: fakeTok998877", ["fakeTok998877"]),
        ("secret=fakeSec998877", ["fakeSec998877"]),
        ("my key is sk-test-000000000000 and AKIAEXAMPLE0 ok", ["sk-test-000000000000", "AKIAEXAMPLE0"]),
        ("postgres://lin:fake-pw@db.local/app", ["fake-pw"]),
        ("Authorization: Bearer fake.token.0011", ["fake.token.0011"]),
        ("SENDGRID_AUTH=Zx81fakeQw92Er73Ty64Ui", ["Zx81fakeQw92Er73Ty64Ui"]),
        ("密码是old-1234，后来改成new-5678", ["old-1234", "new-5678"]),
        ("密碼是old-1234，後來改成new-5678", ["old-1234", "new-5678"]),
        ("介面金鑰是 fakeKey001122", ["fakeKey001122"]),
        ("存取權杖：fakeTok998877", ["fakeTok998877"]),
        ("帳號密碼：root/fake-99x", ["fake-99x"]),
        (f"deploy key:\n{PEM}\nkeep it", [PEM]),
        (
            "cut off -----BEGIN PRIVATE KEY-----\nRkFLRUZBS0VGQUtFRkFLRQ",
            ["-----BEGIN PRIVATE KEY-----\nRkFLRUZBS0VGQUtFRkFLRQ"],
        ),
    ],
)
def test_only_the_value_of_a_secret_is_found(text: str, expected: list[str]) -> None:
    assert values(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *(
            "the password policy changed",
            "password: required",
            "my password manager is 1Password",
            "passwords must be 12 characters",
        ),
        *(
            "token bucket",
            "max_tokens=4096",
            "password = os.environ['DB']",
            "token: ${TOKEN}",
            "the password is incorrect",
        ),
        *(
            "密码是必填项",
            "密码忘了",
            "令牌桶算法",
            "token 有效期是 3600 秒",
            "密码是 bcrypt 加密存储的",
            "密码长度是 12 位",
        ),
        *(
            "commit 3f2a9c1b7d8e4f5061728394a5b6c7d8e9f00112",
            "550e8400-e29b-41d4-a716-446655440000",
            "https://example.com/reset?step=2",
        ),
        *("credentials are user/password", "密码用 bcrypt 加密", "password is case-folded", "密码是 “required”"),
        *(
            "Python 3.11.7",
            "password: ***",
            "the pin is loose",
            "the pw: to be decided",
            "const token = await getToken(user);",
        ),
    ],
)
def test_talk_about_secrets_is_not_a_secret(text: str) -> None:
    assert find(text) == []


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("今天很好。数据库密码是 hunter2x", "数据库密码"),
        ("the wifi password for the office is swordfish1", "the wifi password for the office"),
        ("ghp_FAKEfake0000FAKE", ""),
        ("API key: fakekey-0011", "API key"),
    ],
)
def test_the_label_is_the_words_of_the_clause_before_the_value(text: str, label: str) -> None:
    assert [secret.label for secret in find(text)] == [label]


def test_a_label_never_holds_an_earlier_secret() -> None:
    text = "my key is sk-test-000000000000 and AKIAEXAMPLE0 ok"
    assert all("sk-test" not in secret.label for secret in find(text))


def test_masking_leaves_the_label_to_search_for() -> None:
    assert mask("数据库密码: hunter2x").text == "数据库密码: ***"
    assert mask("nothing here") == Masked("nothing here", [])


def test_a_mask_that_the_user_wrote_is_told_from_a_masked_value() -> None:
    text = "*** 密码是 hunter2x ***"
    masked = mask(text)
    assert masked == Masked("*** 密码是 *** ***", [(8, "hunter2x")])
    assert unmask(masked) == text


def test_a_value_without_its_mask_is_refused() -> None:
    with pytest.raises(ValueError, match="no mask"):
        unmask(Masked("abc", [(0, "x")]))
    with pytest.raises(ValueError, match="no mask"):
        unmask(Masked("***", [(0, "x"), (0, "y")]))


def test_a_very_long_value_is_masked_to_its_end() -> None:
    value = "aB3." * 200
    assert mask(f"token: {value} end").text == "token: *** end"


def test_a_private_key_that_names_another_inside_is_one_secret() -> None:
    text = "-----BEGIN PRIVATE KEY-----\n" * 2 + "RkFLRUZBS0VGQUtFRkFLRQ\n-----END PRIVATE KEY-----"
    assert values(text) == [text]


def test_an_edit_that_holds_the_mask_is_noticed() -> None:
    assert contains_mask(f"密码: {MASK}")
    assert contains_mask("密码: ＊＊＊")
    assert contains_mask("password: ＊*\u200b﹡")
    assert not contains_mask("密码: x**")


_WORDS = st.sampled_from(
    [
        "密码",
        "是 ",
        "：",
        "hunter2",
        "password",
        " is ",
        ": ",
        "sk-test-0000000001",
        "***",
        "\n",
        "。",
        "abc",
        "postgres://a:",
        "@h",
        "“",
        "”",
        "=",
        PEM,
    ]
)


@given(st.lists(_WORDS | st.text(max_size=6), max_size=14).map("".join))
def test_unmasking_gives_the_very_same_text_back(text: str) -> None:
    masked = mask(text)
    assert unmask(masked) == text
    assert [value for _, value in masked.values] == values(text)


@given(st.lists(_WORDS | st.text(max_size=6), max_size=14).map("".join))
def test_secrets_stand_in_order_and_never_overlap(text: str) -> None:
    at = 0
    for secret in find(text):
        assert at <= secret.start < secret.end <= len(text)
        at = secret.end


@pytest.mark.parametrize("language", ["zh", "en"])
def test_precision_and_recall_hold_on_the_labelled_sentences(language: str) -> None:
    for split in ("tune", "held_out"):
        total = score([line for line in labelled() if line["language"] == language and line["split"] == split])
        assert total.precision >= 0.95
        assert total.recall >= 0.95


def test_traditional_characters_hide_no_secret() -> None:
    written = {ord(line[0]): line[1] for line in TABLE.read_text("utf-8").split("\n") if len(line) > 1}
    lines = [line["text"] for line in labelled() if line["language"] == "zh"]
    assert sum(line.translate(written) != line for line in lines) > 200
    for line in lines:
        assert [secret[:2] for secret in find(line.translate(written))] == [secret[:2] for secret in find(line)]


def test_the_label_of_a_secret_ends_before_what_joins_them() -> None:
    for text in ("数据库密码设为 fake-99x", "數據庫密碼設為 fake-99x"):
        (secret,) = find(text)
        assert (secret.label, text[secret.start :]) == (text[:5], "fake-99x")


def test_the_labelled_set_is_large_balanced_and_half_harmless() -> None:
    everything = labelled()
    assert len(everything) >= 240
    assert len({line["text"] for line in everything}) == len(everything)
    for language in ("zh", "en"):
        some = [bool(line["secrets"]) for line in everything if line["language"] == language]
        assert sum(some) == len(some) / 2


def test_the_measure_counts_misses_and_false_alarms() -> None:
    line = next(line for line in labelled() if line["secrets"])
    assert judge(line, []).missed == len(line["secrets"])
    assert judge({**line, "secrets": []}, [(0, 3)]).false_alarms == 1
