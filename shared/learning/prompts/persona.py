"""The prompt that asks a model what many facts say of the person together.

Facts and what is known already are framed as data by a line that cannot occur in them, under aliases, never under their ids. Knows nothing
of storage, models or secrets: what comes in has its secrets replaced already.
"""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Final

from shared.learning.prompts.extract import boundary
from shared.text.normalise import language, normalise

PROMPT_VERSION: Final = "persona/1"
_WORDS: Final = {
    "en": ("project {}", "The facts, the last confirmed first:", "Known already:", "Now answer with the JSON object."),
    "zh": ("项目 {}", "事实，最近确认的在前：", "已知的陈述：", "现在用 JSON 对象回答。"),
}


def build(
    facts: Mapping[str, tuple[datetime, str | None, str]], known: Mapping[str, tuple[str, str]]
) -> tuple[str, str]:
    """Return what a model is sent as system and as user, in the language of most facts.

    `facts` by alias: when it was last confirmed, its project if it has one, and its text. `known` by alias: the part and the text.
    """
    tongue = language("\n".join(text for _, _, text in facts.values()))
    of_project, before, already, after = _WORDS[tongue]
    told = []
    for alias, (at, project, text) in facts.items():
        where = f", {of_project.format(normalise(project))}" if project else ""
        told.append(f"{alias} ({at:%Y-%m-%d}{where}): {normalise(text)}")
    former = [f"{alias} ({part}): {normalise(text)}" for alias, (part, text) in known.items()]
    mark = boundary([*told, *former], of="facts")
    user = [before, mark, *told, mark, *([already, mark, *former, mark] if former else []), "", after]
    return wording(tongue).replace("{{boundary}}", mark), "\n".join(user)


@cache
def wording(tongue: str) -> str:
    """Return the text of a prompt file, `{{…}}` still open."""
    return Path(__file__).with_name(f"persona.{tongue}.md").read_text(encoding="utf-8")
