"""What the words of other tools mean here: categories, importance, tags, metadata. Pure."""

import math
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final

from shared.domain import limits, naming
from shared.domain.memory import Category
from shared.keeping.importing.records import IMPORTANCE
from shared.keeping.memories import fields
from shared.text.keywords import triggers
from shared.text.secrets import find

WORDS: Final = 200
"""Words of one memory that are looked at for its tags."""
_READ: Final = 200
"""Characters of a text that are read for what it is; facts are shorter."""
_CATEGORIES: Final = {category.value: category for category in Category} | {
    "preferences": Category.PREFERENCE,
    "user_preferences": Category.PREFERENCE,
    "decisions": Category.DECISION,
    "constraints": Category.CONSTRAINT,
    "rule": Category.CONSTRAINT,
    "rules": Category.CONSTRAINT,
    "credentials": Category.CREDENTIAL,
    "events": Category.EVENT,
    "milestones": Category.EVENT,
    "plan": Category.EVENT,
    "plans": Category.EVENT,
    "contacts": Category.CONTACT,
    "experiences": Category.EXPERIENCE,
    "config": Category.KNOWLEDGE,
    "configuration": Category.KNOWLEDGE,
    "important": Category.KNOWLEDGE,
    "偏好": Category.PREFERENCE,
    "决策": Category.DECISION,
    "决定": Category.DECISION,
    "约束": Category.CONSTRAINT,
    "凭据": Category.CREDENTIAL,
    "事件": Category.EVENT,
    "计划": Category.EVENT,
    "知识": Category.KNOWLEDGE,
    "配置": Category.KNOWLEDGE,
    "联系人": Category.CONTACT,
    "经验": Category.EXPERIENCE,
}


def category(words: Iterable[object]) -> Category | None:
    """Return the category that the first of these words means; None where none means any."""
    said = (word.strip().lstrip("#").casefold().replace(" ", "_") for word in words if isinstance(word, str))
    return next((_CATEGORIES[word] for word in said if word in _CATEGORIES), None)


def judged(content: object, told: Category | None = None) -> dict[str, Any]:
    """Return category and importance: what is told, else what the words of the text say, by the rules that learn without a model."""
    found = triggers(content[:_READ]) if isinstance(content, str) and told is None else ()
    if not found:
        return {"category": told or Category.KNOWLEDGE, "importance": IMPORTANCE}
    return {"category": found[0].category, "importance": found[0].importance}


def importance(said: object) -> int:
    """Return an importance from 1 to 10: a number, written as one or as text, brought within these bounds; else the usual one."""
    try:
        number = float(said) if isinstance(said, int | float | str) and not isinstance(said, bool) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    return IMPORTANCE if math.isnan(number) else round(min(10.0, max(1.0, number)))


def tags(words: Iterable[object]) -> list[str]:
    """Return words as tags, the first ones where there are too many. What can be none, or holds a secret, is left out."""
    kept: dict[str, None] = {}
    for word in islice(words, WORDS):
        if len(kept) == limits.TAGS:
            break
        if isinstance(word, str) and len(word) <= limits.TAG_CHARACTERS and not find(word):
            try:
                kept[naming.tag("#" + "_".join(word.strip().lstrip("#").split()))] = None
            except ValueError:
                continue
    return list(kept)


def metadata(said: object) -> object:
    """Return metadata without the names that say whose a thing is: of another tool's owner nothing is believed here."""
    if not isinstance(said, Mapping):
        return said
    return {name: value for name, value in said.items() if name.casefold() not in fields.RESERVED}
