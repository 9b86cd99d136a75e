"""The prompt that asks a model what the facts of one project say together.

The facts are framed as data by a line that cannot occur in them; no id and no credential is among them.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from shared.domain.memory import Memory
from shared.learning.prompts.extract import boundary
from shared.text.normalise import language, normalise

_WORDS: Final = {
    "en": ("Project: {}", "The facts, the latest first:", "Now answer with the JSON object."),
    "zh": ("项目：{}", "事实，最新的在前：", "现在用 JSON 对象回答。"),
}


def build(project: str, facts: Sequence[Memory]) -> tuple[str, str]:
    """Return what a model is sent as system and as user, in the language of most facts."""
    told = [f"- {fact.updated_at:%Y-%m-%d}: {normalise(fact.content)}" for fact in facts]
    tongue = language("\n".join(fact.content for fact in facts))
    mark = boundary([*told, project], of="facts")
    named, before, after = _WORDS[tongue]
    user = "\n".join([named.format(normalise(project)), before, mark, *told, mark, "", after])
    return wording(tongue).replace("{{boundary}}", mark), user


@cache
def wording(tongue: str) -> str:
    """Return the text of a prompt file, `{{…}}` still open."""
    return Path(__file__).with_name(f"describe.{tongue}.md").read_text(encoding="utf-8")
