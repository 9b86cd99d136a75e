"""A deployment whose issuer grants permissions by scope: the parameter PermissionClaim."""

from collections.abc import Iterator

import pytest

from local.stack import Stack
from tests.e2e.client import Person


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with Stack.start(schedule=False, parameters={"PermissionClaim": "scope"}) as running:
        yield running


def test_with_a_scope_for_a_claim_groups_grant_nothing(stack: Stack, ann: Person) -> None:
    by_scope = stack.issuer.token("olga", scope="openid memory:read")
    by_group = stack.issuer.token("olga", ["memory:read"])
    query = {"user_id": ann.sub, "reason": "ticket 4711: a complaint"}
    for token, status in ((by_scope, 200), (by_group, 403)):
        headers = {"authorization": f"Bearer {token}"}
        assert ann.call("GET", "/v1/admin/memories", query=query, headers=headers).status == status
