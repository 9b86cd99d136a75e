"""The prompt that asks a model to put repeated experiences and preferences into words.

They are framed as data by a line that cannot occur in them; no id and no secret is among them.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from shared.learning.prompts.extract import boundary
from shared.text.normalise import language, normalise

PROMPT_VERSION: Final = "evolve/1"
_WORDS: Final = {
    "en": ("The patterns:", "Now answer with the JSON object."),
    "zh": ("这些模式：", "现在用 JSON 对象回答。"),
}


def build(patterns: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    """Return what a model is sent as system and as user, in the language of most lines: by alias (`p1`) the texts that are alike."""
    told = [f"{alias}: {normalise(text)}" for alias, texts in patterns.items() for text in texts]
    tongue = language("\n".join(text for texts in patterns.values() for text in texts))
    mark = boundary(told, of="patterns")
    before, after = _WORDS[tongue]
    user = "\n".join([before, mark, *told, mark, "", after])
    return wording(tongue).replace("{{boundary}}", mark), user


@cache
def wording(tongue: str) -> str:
    """Return the text of a prompt file, `{{…}}` still open."""
    return Path(__file__).with_name(f"evolve.{tongue}.md").read_text(encoding="utf-8")
