"""Documents say everything that there is, name nothing that is not, and lead nowhere in vain."""

import inspect
import json
import os
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from shared import config
from shared.domain import errors
from shared.domain.settings import Preferences
from shared.learning.conversation import Skipped
from shared.learning.extraction import Failed

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
HOST = re.compile(r"https?://([A-Za-z0-9.-]+)")
KNOWN_HOSTS = {"127.0.0.1", "localhost"}
ROUTE = re.compile(r"`(GET|POST|PUT|PATCH|DELETE) (/v1/[^`?\s]*)`")
SIBLINGS = (
    "README.md",
    "docs/architecture.md",
    "docs/operations.md",
    "docs/privacy.md",
    "docs/local.md",
    "docs/spec/sealing.md",
)


def text_of(*names: str) -> str:
    return "\n".join((ROOT / name).read_text(encoding="utf-8") for name in names)


def everything() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)


def routes() -> set[tuple[str, str]]:
    paths = json.loads((ROOT / "docs/openapi.json").read_text(encoding="utf-8"))["paths"]
    return {(method.upper(), path) for path, operations in paths.items() for method in operations}


def codes() -> set[str]:
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.NacreError)]
    return {kind.code for kind in kinds}


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):.*## ", text_of("Makefile"), re.MULTILINE))


def variables() -> set[str]:
    return set(re.findall(r'_(?:text|given|number)\("([A-Z_]+)"\)', inspect.getsource(config)))


def as_written(value: object) -> str:
    """A default as the table shows it; keywords start empty."""
    if isinstance(value, dict):
        return "none"
    return value if isinstance(value, str) else json.dumps(value)


def test_every_route_stands_in_the_table_of_the_api_and_no_other_does() -> None:
    named = set(ROUTE.findall(text_of("docs/api.md")))

    assert named == routes()
    assert ("POST", "/v1/search") in named


def test_every_error_code_is_explained() -> None:
    assert {"duplicate", "rebuilding", "internal"} <= codes()
    assert {code for code in codes() if f"`{code}`" not in text_of("docs/api.md")} == set()


def test_every_reason_to_skip_or_fail_is_named() -> None:
    reasons = {*Skipped, *Failed}

    assert {reason.value for reason in reasons if f"`{reason.value}`" not in text_of("docs/api.md")} == set()


def test_every_setting_of_an_owner_is_explained_with_its_default() -> None:
    table = text_of("docs/api.md").partition("## Settings")[2].partition("## Errors")[0]
    shown = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", table, re.MULTILINE))
    defaults = {name: as_written(value) for name, value in asdict(Preferences()).items() if name != "version"}

    assert shown == defaults


def test_every_variable_of_the_environment_is_named() -> None:
    assert {"TABLE_NAME", "MODEL_API_KEY"} <= variables()
    assert {name for name in variables() if f"`{name}`" not in text_of("docs/architecture.md")} == set()


def test_every_parameter_of_the_template_is_explained() -> None:
    block = text_of("template.yaml").partition("\nParameters:\n")[2].partition("\nRules:\n")[0]
    parameters = set(re.findall(r"^  ([A-Z]\w+):$", block, re.MULTILINE))

    assert "ActiveLimit" in parameters
    for name in ("docs/operations.md", "docs/operations.zh.md"):
        assert {one for one in parameters if f"`{one}`" not in text_of(name)} == set()


def test_every_make_target_is_named_and_described() -> None:
    phony = set(re.findall(r"[a-z-]+", " ".join(re.findall(r"^\.PHONY: (.*)$", text_of("Makefile"), re.MULTILINE))))

    assert phony == targets()
    assert {name for name in targets() if f"make {name}" not in everything()} == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    missing = [link for link in LINK.findall(text) if "://" not in link and not (document.parent / link).exists()]

    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_document_names_this_machine_or_a_host_that_we_do_not_run(document: Path) -> None:
    text = document.read_text(encoding="utf-8")

    assert {host for host in HOST.findall(text) if host not in KNOWN_HOSTS} == set()
    assert str(ROOT) + os.sep not in text


@pytest.mark.parametrize("name", SIBLINGS)
def test_a_document_and_its_chinese_sibling_have_the_same_parts(name: str) -> None:
    english, chinese = text_of(name), text_of(name.replace(".md", ".zh.md"))

    def parts(text: str) -> tuple[int, int]:
        return text.count("\n## "), len(re.findall(r"^\|", text, re.MULTILINE))

    assert parts(english) == parts(chinese)


def test_every_decision_is_in_the_index() -> None:
    folder = ROOT / "docs/decisions"
    pages = {path.name for path in folder.glob("*.md")} - {"README.md"}

    assert set(LINK.findall((folder / "README.md").read_text(encoding="utf-8"))) == pages
