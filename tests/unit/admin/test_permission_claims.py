"""Which claims of a token grant what: one claim, whole words, and nothing where it is missing or of another form."""

from typing import Any

import pytest

from shared.domain.permissions import Permission, granted

READ, WRITE = Permission.READ_MEMORIES, Permission.WRITE_AGENTS


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("[memory:read]", {READ}),
        ("[memory:read agents:write]", {READ, WRITE}),
        ("memory:read", {READ}),
        ("openid agents:write profile", {WRITE}),
        (["memory:read", 7], {READ}),
        ("[]", set()),
        ("", set()),
        ("[memory:reader]", set()),
        ("[xmemory:read]", set()),
        ("[Memory:Read]", set()),
        ("memory:read,agents:write", set()),
        ("[[memory:read]]", set()),
        (["memory:read agents:write"], set()),
        (7, set()),
        ({"memory:read": True}, set()),
    ],
)
def test_a_claim_grants_what_it_names_as_a_whole_word(value: Any, wanted: set[Permission]) -> None:
    assert granted({"cognito:groups": value}, "cognito:groups") == wanted


def test_only_the_named_claim_grants() -> None:
    claims = {"cognito:groups": "[memory:read]", "scope": "agents:write"}
    assert granted(claims, "cognito:groups") == {READ}
    assert granted(claims, "scope") == {WRITE}
    assert granted(claims, "roles") == set()
