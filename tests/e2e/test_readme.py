"""The tour of both READMEs, run as it is written: by bash and curl, against a running stack."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.__main__ import DEFAULT_PORT
from local.stack import Stack

ROOT = Path(__file__).parents[2]
WRITTEN = f"http://127.0.0.1:{DEFAULT_PORT}"
BASH = shutil.which("bash") or "bash"
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="the tour is made of curl commands")


@pytest.fixture
def running() -> Iterator[Stack]:
    with Stack.start(schedule=False, environment={"MODEL_PROVIDER": "rules"}) as stack:
        yield stack


def tour(document: str, stack: Stack) -> list[str]:
    """What each block of the tour prints; the blocks share one shell, which ends at the first error."""
    blocks = [block for block in BLOCK.findall((ROOT / document).read_text(encoding="utf-8")) if "make " not in block]
    assert WRITTEN in blocks[0]
    script = "echo '#####'\n".join(blocks).replace(WRITTEN, stack.url)
    command = [BASH, "-euo", "pipefail", "-c", script]
    ran = subprocess.run(command, capture_output=True, timeout=60, check=False, text=True)  # noqa: S603 - our own README
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.split("#####\n")


@pytest.mark.parametrize(
    ("document", "decision", "preference", "allergy"),
    [
        ("README.md", "blue-green releases", "简洁的代码风格", "peanuts"),
        ("README.zh.md", "FastAPI", "small pull requests", "花生"),
    ],
)
def test_the_tour_does_what_it_says(
    document: str, decision: str, preference: str, allergy: str, running: Stack
) -> None:
    _, added, looked, learned, asked, managed, taken = tour(document, running)
    first, second, context = asked.splitlines()
    edited, deleted, found = managed.splitlines()
    shown, recorded = looked.splitlines()
    tried, done = learned.splitlines()

    would_go, exported = taken.splitlines()

    assert '"error":{' not in added + looked + learned + asked + managed + taken
    assert '"status":"dry_run","task_id":null,"count":1' in would_go
    assert ('"kind\\":\\"manifest' in exported, "Lagoon-42-reef" in exported) == (True, False)
    assert allergy in added
    assert "***" in added
    assert "Lagoon-42-reef" not in added + learned + asked + managed
    assert "Lagoon-42-reef" in shown
    assert ('"action":"reveal"' in recorded, "Lagoon-42-reef" in recorded) == (True, False)
    assert ('"inserted":0' in tried, '"action":"insert"' in tried) == (True, True)
    assert '"inserted":2' in done
    assert decision in first
    assert '"signals":{' in first
    assert preference in second
    assert decision in context
    assert '"version":2' in edited
    assert (deleted, '"memories":[]' in found) == ("", True)


@pytest.mark.parametrize("document", ["README.md", "README.zh.md"])
def test_both_commands_stand_in_the_readme(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")

    assert re.search(r"^make demo\b", text, re.MULTILINE)
    assert re.search(r"^make test\b", text, re.MULTILINE)
