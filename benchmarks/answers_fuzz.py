"""Mutated answers against the reader: it raises nothing but Unreadable and never adds a character that the model did not send.

Each mutation starts from a real shape of answer and damages it one to six times: cut, doubled, swapped and lost stretches, foreign quotes,
fences, thinking, escapes, halves of characters. That nothing was added is checked without the reader's own code: every text of a
reading must stand in the answer, or in the answer with its escapes resolved once, twice or three times.

    python -m benchmarks.answers_fuzz [--answers 100000] [--seed 1]
"""

import argparse
import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterator

from shared.learning.answers.answers import Reading, Unreadable, read

ALIASES = frozenset({"m1", "m2", "m3"})
_FACTS: list[dict[str, object]] = [
    {
        "content": "用户喜欢喝绿茶，不喝咖啡",
        "type": "user",
        "category": "preference",
        "importance": 6,
        "action": "insert",
    },
    {
        "content": 'Mara calls the service "Lantern" and runs it on port 8443',
        "type": "project",
        "category": "decision",
        "action": "update",
        "target": "m2",
    },
    {
        "content": "数据库密码是 NACRE_SECRET_1",
        "category": "credential",
        "importance": "10",
        "action": "touch",
        "target": "m3",
    },
    {"content": "路径是 C:\\work\\新建文件夹，发布日期 2031-04-18 🚀", "importance": 12},
]
_ANSWER = {
    "summary": "谈了“绿茶”和 the service.\n下一步：发布",
    "facts": _FACTS,
    "experiences": [{"situation": "build broke", "action": "pinned it", "outcome": "green"}],
}
SHAPES = (
    json.dumps(_ANSWER, ensure_ascii=False),
    json.dumps(_ANSWER),
    json.dumps(_ANSWER, ensure_ascii=False, indent=2),
    "Here is the result:\n```json\n" + json.dumps(_ANSWER, ensure_ascii=False, indent=1) + "\n```\nAnything else?",
    '<think>maybe {"facts":["draft"]}</think>' + json.dumps(_ANSWER, ensure_ascii=False),
    json.dumps({"name": "remember", "arguments": json.dumps(_ANSWER, ensure_ascii=False)}),
    json.dumps(json.dumps(_ANSWER)),
    str(_ANSWER),
    json.dumps([str(fact["content"]) for fact in _FACTS], ensure_ascii=False),
    '{"facts":[{"likes tea":true}, "loves figs"]} // done',
    "{“facts”：［{“content”：“喜欢“绿茶”，也喝水”，“type”：“user”}］}",
    '{"ops":[{"op":"update","id":"12","text":"x is y"}]}',
    '{"properties":{"facts":{"type":"array"}}}',
)
_PIECES = (
    *"{}[]\"'“”：，,:\\\n`/#<>｛［\ufeff\x00\ud83d",
    "```", "~~~", "<think>", "</think>", "think>", "\\u", "\\ud83d", '\\"', "null", "NaN",
    "true", ',"', '":', "/*", "//", '{"facts":[', "}]}", "m2", "1e999",
)  # fmt: skip
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([\"'\\/bfnrt]))")
_CONTROL = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def mutated(seed: int, answers: int) -> Iterator[str]:
    """Yield damaged answers, the same for the same seed."""
    chance = random.Random(seed)
    for _ in range(answers):
        text = chance.choice(SHAPES)
        for _ in range(chance.randint(1, 6)):
            text = _damaged(text, chance)
        yield text


def invented(answer: str, reading: Reading) -> list[str]:
    """Return the texts of a reading that do not stand in the answer, however often its escapes are resolved."""
    forms = [answer.replace("\ufeff", "")]
    for _ in range(3):
        forms.append(_resolved(forms[-1]))
    told = [reading.summary, *(fact.content for fact in reading.facts)]
    told += [part for one in reading.experiences for part in (one.situation, one.action, one.outcome)]
    return [text for text in told if not any(text in form for form in forms)]


def _damaged(text: str, chance: random.Random) -> str:
    first, last = sorted(chance.randint(0, len(text)) for _ in range(2))
    last = min(last, first + chance.choice((1, 3, 12, 80)))
    foreign = chance.choice(_PIECES)
    return chance.choice(
        (
            text[:first] + text[last:],
            text[:first] + foreign + text[first:],
            text[:first] + foreign + text[last:],
            text[:last] + text[first:],
            text[:first],
            text[last:] + text[:first],
            text[:first] + text[first:last][::-1] + text[last:],
            text.replace('"', foreign, chance.randint(0, 4)),
        )
    )


def _resolved(text: str) -> str:
    def one(escape: re.Match[str]) -> str:
        return chr(int(escape[1], 16)) if escape[1] else _CONTROL.get(escape[2], escape[2])

    return _ESCAPE.sub(one, text).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def main() -> None:
    """Read every mutation; print how many were read, asked again for and how long it took. Ends with 1 at the first fault."""
    parser = argparse.ArgumentParser(description="Mutated answers against the reader.")
    parser.add_argument("--answers", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    ends: Counter[str] = Counter()
    slowest = 0.0
    started = time.process_time()
    for answer in mutated(given.seed, given.answers):
        begun = time.process_time()
        try:
            reading = read(answer, aliases=ALIASES, limit=20)
        except Unreadable as unreadable:
            ends[unreadable.problem.name] += 1
        else:
            ends[f"{len(reading.facts)} facts"] += 1
            if wrong := invented(answer, reading):
                raise SystemExit(f"invented {wrong!r} from {answer!r}")
        slowest = max(slowest, time.process_time() - begun)
    seconds = time.process_time() - started
    print(f"{given.answers} answers, {seconds:.1f} s of CPU with the check, slowest {slowest * 1e3:.1f} ms")
    for end, count in sorted(ends.items()):
        print(f"{end:<12}{count:>8}")


if __name__ == "__main__":
    main()
