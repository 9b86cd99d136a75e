"""The environment: what template.yaml declares for a function is what its code reads, no more and no less."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from samtranslator.yaml_helper import yaml_parse

from shared import config

ROOT = Path(__file__).parents[2]
READ_BY_LIBRARIES = {"POWERTOOLS_SERVICE_NAME": "Powertools", "OPENBLAS_NUM_THREADS": "numpy"}
PARTS = (
    "storage",
    "bounds",
    "daily_conversations",
    "work_queue",
    "maintenance_queue",
    "model",
    "embeddings",
    "context_seconds",
    "permission_claim",
    "logs",
)


@cache
def template() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml_parse((ROOT / "template.yaml").read_text())
    return loaded


def functions() -> dict[str, set[str]]:
    """Return the variables that the template declares, by the function's folder."""
    common = set(template()["Globals"]["Function"]["Environment"]["Variables"])
    found = {}
    for resource in template()["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            own = resource["Properties"].get("Environment", {}).get("Variables", {})
            found[resource["Properties"]["Handler"].split(".")[1]] = common | set(own)
    return found


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def variables() -> dict[str, set[str]]:
    """Return the variables that each part of shared.config reads."""
    found = {}
    for node in parse(ROOT / "shared" / "config.py").body:
        if isinstance(node, ast.FunctionDef) and node.name in PARTS:
            calls = [call for call in ast.walk(node) if isinstance(call, ast.Call)]
            constants = [arg.value for call in calls for arg in call.args if isinstance(arg, ast.Constant)]
            found[node.name] = {str(value) for value in constants}
    return found


@cache
def factories() -> dict[str, ast.FunctionDef]:
    """Return the factories of shared.bootstrap by name; no name stands twice."""
    found: dict[str, ast.FunctionDef] = {}
    for path in sorted((ROOT / "shared" / "bootstrap").glob("*.py")):
        for node in parse(path).body:
            if isinstance(node, ast.FunctionDef):
                assert node.name not in found, node.name
                found[node.name] = node
    return found


def mentioned(tree: ast.AST) -> Iterator[str]:
    """Yield each name that is used by itself or as an attribute of a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            yield node.id


def read_by(folder: str) -> set[str]:
    """Return the variables that the factories read which the function's modules name, and the log."""
    waiting = [name for path in (ROOT / "functions" / folder).glob("*.py") for name in mentioned(parse(path))]
    seen: set[str] = set()
    read = set(variables()["logs"])
    while waiting:
        name = waiting.pop()
        if name in seen or name not in factories():
            continue
        seen.add(name)
        for node in ast.walk(factories()[name]):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "config":
                read |= variables()[node.attr]
            elif isinstance(node, ast.Name):
                waiting.append(node.id)
    return read


@pytest.mark.parametrize("folder", sorted(functions()))
def test_a_function_reads_what_it_is_given_and_is_given_what_it_reads(folder: str) -> None:
    declared = functions()[folder]
    assert read_by(folder) == declared - set(READ_BY_LIBRARIES)


def test_only_the_settings_look_at_the_environment() -> None:
    readers = [
        path.relative_to(ROOT).as_posix()
        for folder in ("shared", "functions")
        for path in (ROOT / folder).rglob("*.py")
        if {"environ", "getenv"} & set(mentioned(parse(path)))
    ]
    assert readers == ["shared/config.py"]


@pytest.fixture
def unread() -> Iterator[None]:
    """Nothing of the environment is read yet, nor after the test."""
    for part in PARTS:
        getattr(config, part).cache_clear()
    yield
    for part in PARTS:
        getattr(config, part).cache_clear()


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize(
    ("part", "name"), [(part, name) for part, names in sorted(variables().items()) for name in sorted(names)]
)
def test_a_missing_variable_is_named(part: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for other in variables()[part]:
        monkeypatch.setenv(other, "1")
    monkeypatch.delenv(name)
    with pytest.raises(config.MissingSetting) as missing:
        getattr(config, part)()
    assert missing.value.name == name


@pytest.mark.usefixtures("unread")
def test_a_number_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACTIVE_LIMIT", "many")
    with pytest.raises(config.MissingSetting) as wrong:
        config.bounds()
    assert wrong.value.name == "ACTIVE_LIMIT"
