"""The prompt that asks a model which memories of one group say the same.

The lines are framed as data by a line that cannot occur in them, and go in under aliases, never under their ids. Knows nothing of storage,
models or secrets: what comes in has its secrets replaced already.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Final

from shared.learning.prompts.extract import boundary
from shared.text.normalise import language, normalise

PROMPT_VERSION: Final = "consolidate/1"
_WORDS: Final = {
    "en": ("The lines:", "Now answer with the JSON object."),
    "zh": ("这些行：", "现在用 JSON 对象回答。"),
}


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is sent; no id is in it."""

    system: str
    user: str


def build(lines: Mapping[str, tuple[datetime, str]]) -> Prompt:
    """Return the prompt for one group: by alias (`m1`), when a line was last confirmed and its text. In the language of most lines."""
    told = [f"{alias} ({at:%Y-%m-%d}): {normalise(text)}" for alias, (at, text) in lines.items()]
    tongue = language("\n".join(text for _, text in lines.values()))
    mark = boundary(told, of="lines")
    before, after = _WORDS[tongue]
    user = "\n".join([before, mark, *told, mark, "", after])
    return Prompt(wording(tongue).replace("{{boundary}}", mark), user)


@cache
def wording(tongue: str) -> str:
    """Return the text of a prompt file, `{{…}}` still open."""
    return Path(__file__).with_name(f"consolidate.{tongue}.md").read_text(encoding="utf-8")
