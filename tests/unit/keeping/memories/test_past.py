"""Earlier versions beside a present one that is a credential."""

from shared.domain.drafts import as_past
from tests.builders import World

SECRET = "fake-99-salad"


def test_a_version_that_says_in_the_clear_what_is_a_secret_now_is_masked_whole() -> None:
    world = World()
    first = world.add(f"We call the harbour {SECRET}")
    other = world.edit(first.id, content="The harbour has two names")
    present = world.edit(first.id, content=f"My password is {SECRET}")
    assert present.secrets[0][1] == SECRET
    past = as_past(first, present)
    assert (past.content, past.secrets) == ("***", ((0, f"We call the harbour {SECRET}"),))
    assert as_past(other, present) == other


def test_a_version_whose_own_secrets_are_masked_stays_readable_around_them() -> None:
    world = World()
    first = world.add(f"My old token: {SECRET}")
    present = world.edit(first.id, content="There is no token")
    assert present.content == "***"
    assert as_past(first, present).content == "My old token: ***"
    assert as_past(world.add("Tea"), present).content == "***"
