"""How a text becomes the content of a memory: its secrets are cut out, and a credential is one whatever the caller calls it."""

from dataclasses import dataclass, replace

from shared.domain.errors import Invalid
from shared.domain.memory import Category, Memory, Status
from shared.text.normalise import visible
from shared.text.secrets import MASK, Masked, mask, unmask

CREDENTIAL_IMPORTANCE = 10


@dataclass(frozen=True, slots=True)
class Content:
    """Masked text, the secrets (offset in it, value), and what detection says of category and importance (None: nothing)."""

    text: str
    secrets: tuple[tuple[int, str], ...]
    category: Category | None
    importance: int | None


def content_masked(masked: Masked, category: Category | None) -> Content:
    """Return the content of a text whose secrets are cut out. A `credential` in which none was detected is masked whole."""
    secrets = tuple((offset, value) for offset, value in masked.values)
    if not secrets and category is Category.CREDENTIAL:
        return Content(MASK, ((0, masked.text),), category, CREDENTIAL_IMPORTANCE)
    if secrets:
        return Content(masked.text, secrets, Category.CREDENTIAL, CREDENTIAL_IMPORTANCE)
    return Content(masked.text, (), category, None)


def with_content(memory: Memory, text: str, category: Category | None = None) -> Memory:
    """Return the memory with that text, masked; a detected secret makes it a credential of importance 10."""
    return with_masked(memory, mask(text), category)


def with_masked(memory: Memory, masked: Masked, category: Category | None = None) -> Memory:
    """Return the memory with a text whose secrets are cut out already. One that is masked whole has no quote that tells it."""
    content = content_masked(masked, category or memory.category)
    return replace(
        memory,
        origin=replace(memory.origin, quote=None) if content.text == MASK else memory.origin,
        content=content.text,
        secrets=content.secrets,
        category=content.category or memory.category,
        importance=content.importance or memory.importance,
    )


def as_past(version: Memory, present: Memory) -> Memory:
    """Return an earlier version as it is shown: masked whole where it says in the clear what its memory has made a credential since."""
    marked = present.content == MASK and not version.secrets
    if not marked and not any(value in version.content for _, value in present.secrets):
        return version
    text = unmask(Masked(version.content, list(version.secrets)))
    return replace(version, content=MASK, secrets=((0, text),), origin=replace(version.origin, quote=None))


def refuse_silence(memory: Memory) -> None:
    """Raise Invalid for a memory that says nothing, whoever made it. A retired one lost its text."""
    if memory.status is not Status.RETIRED and not visible(memory.content):
        raise Invalid.of("content", "There is nothing to see in it.")
