"""An auditor's reason is shown to the person as it is written, so nothing in it may show as something else."""

import pytest
from pydantic import ValidationError

from shared.models.admin import LookQuery


@pytest.mark.parametrize("sign", ["\x00", "\n", "\r", "\x1b", "\x85", "\u2028", "\u202e", "\u2066", "\u200f", "\u200b"])
def test_a_sign_that_nobody_sees_or_that_turns_the_text_is_refused(sign: str) -> None:
    with pytest.raises(ValidationError):
        LookQuery(user_id="ann", reason=f"a ticket {sign}of hers")


def test_words_of_any_script_are_a_reason() -> None:
    for reason in ("处理工单四十二号的投诉", "ticket 42, as agreed – ok?", "بطاقة رقم اثنان"):
        assert LookQuery(user_id="ann", reason=f" {reason} ").reason == reason
