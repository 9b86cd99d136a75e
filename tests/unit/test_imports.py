"""Imports point one way, and what a function does not need never reaches it. Read from the sources: nothing is imported here."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("shared", "functions", "local")
LEVELS = (
    {"shared.text"},
    {"shared.domain"},
    {"shared.crypto", "shared.ports", "shared.config", "shared.strict_json"},
    {"shared.observability"},
    {"shared.storage", "shared.adapters"},
    {"shared.keeping", "shared.learning", "shared.recall"},
    {"shared.models"},
    {"shared.http", "shared.problems", "shared.queues", "shared.bootstrap"},
    {"functions"},
)
"""From the bottom up: a room may import its own level and those below."""
ADAPTERS_KNOW = {"shared.adapters", "shared.ports", "shared.domain", "shared.crypto"}
AWS = {"boto3", "botocore"}
SEARCH_LAYER = {"numpy", "snowballstemmer"}
LAYERS = {"pydantic", "aws_lambda_powertools", "cronsim", "cryptography"} | AWS | SEARCH_LAYER
BANNED = {"utils", "util", "helpers", "common", "manager", "managers", "misc", "lib", "core"}
LINES_OF_A_FILE = 400
LINES_OF_A_FUNCTION = 40


def name_of(path: Path) -> str:
    """The import path that a file's place on disk gives it."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {name_of(path): path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in FILES.items()}


def for_types_only(tree: ast.Module) -> set[ast.AST]:
    """The nodes under `if TYPE_CHECKING:`, which no function ever runs."""
    blocks = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    return {inner for block in blocks for statement in block.body for inner in ast.walk(statement)}


def named(tree: ast.Module) -> Iterator[str]:
    """What a module imports at run time, as `package.module`, with names of functions and classes cut off."""
    unseen = for_types_only(tree)
    for node in ast.walk(tree):
        if node in unseen:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = f"{'.' * node.level}{node.module or ''}"
            yield from (
                f"{module}.{alias.name}" if f"{module}.{alias.name}" in FILES else module for alias in node.names
            )


IMPORTS = {name: sorted(set(named(tree))) for name, tree in TREES.items()}


def room_of(name: str) -> str:
    parts = name.split(".")
    return parts[0] if parts[0] != "shared" else ".".join(parts[:2])


def level_of(name: str) -> int:
    return next(number for number, rooms in enumerate(LEVELS) if room_of(name) in rooms)


def ours(names: list[str]) -> list[str]:
    return [name for name in names if name.partition(".")[0] in ROOMS]


def closure(start: str) -> set[str]:
    """Everything that importing a module runs, packages on the way included; of foreign code only the outermost name."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for imported in IMPORTS.get(name, []):
            parts = imported.split(".")
            local = parts[0] in ROOMS
            waiting += [".".join(parts[:end]) for end in range(1, len(parts) + 1)] if local else [parts[0]]
    return seen


def deployed() -> list[str]:
    return [name for name in FILES if not name.startswith("local")]


def test_the_walk_sees_the_rooms() -> None:
    assert {room_of(name) for name in FILES if name.count(".")} >= {room for level in LEVELS for room in level}


def test_every_room_has_a_level() -> None:
    rooms = {room_of(name) for name in deployed()} - {"shared"}

    assert rooms == {room for level in LEVELS for room in level}


def test_imports_point_one_way() -> None:
    wrong = [
        f"{name} imports {imported}"
        for name in deployed()
        if name != "shared"
        for imported in ours(IMPORTS[name])
        if not imported.startswith("local") and level_of(imported) > level_of(name)
    ]

    assert wrong == []


def test_nothing_that_is_deployed_knows_the_local_stack_or_the_tests() -> None:
    outside = {"local", "tests", "benchmarks", "moto"}
    wrong = [
        f"{name} imports {one}" for name in deployed() for one in IMPORTS[name] if one.partition(".")[0] in outside
    ]

    assert wrong == []


def test_adapters_know_ports_domain_and_crypto_only() -> None:
    wrong = [
        f"{name} imports {imported}"
        for name in FILES
        if room_of(name) == "shared.adapters"
        for imported in ours(IMPORTS[name])
        if room_of(imported) not in ADAPTERS_KNOW
    ]

    assert wrong == []


def test_aws_is_called_by_adapters_and_made_by_bootstrap() -> None:
    users = {room_of(name) for name in deployed() for one in IMPORTS[name] if one.partition(".")[0] in AWS}

    assert users == {"shared.adapters", "shared.bootstrap"}


@pytest.mark.parametrize("function", ["memories", "admin", "extraction"])
def test_functions_without_the_search_layer_never_reach_it(function: str) -> None:
    reached = closure(f"functions.{function}.app")

    assert not reached & SEARCH_LAYER
    assert not {name for name in reached if room_of(name) == "shared.recall"}
    assert {"shared.bootstrap", "shared.storage.commit", "botocore"} <= reached


@pytest.mark.parametrize("function", ["recall", "maintenance"])
def test_functions_with_the_search_layer_use_it(function: str) -> None:
    assert closure(f"functions.{function}.app") >= SEARCH_LAYER


def test_deployed_code_imports_only_what_the_layers_and_the_runtime_hold() -> None:
    known = LAYERS | set(ROOMS) | sys.stdlib_module_names
    foreign = [
        f"{name} imports {one}" for name in deployed() for one in IMPORTS[name] if one.partition(".")[0] not in known
    ]

    assert foreign == []


def test_modules_import_each_other_in_no_circle() -> None:
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " → ".join((*path[path.index(name) :], name))
        if name in done:
            return
        for imported in ours(IMPORTS.get(name, [])):
            visit(imported, (*path, name))
        done.add(name)

    for name in FILES:
        visit(name, ())
    assert done == set(FILES)


def test_an_import_path_is_a_path_on_disk() -> None:
    unknown = [f"{name} imports {one}" for name in FILES for one in ours(IMPORTS[name]) if one not in FILES]
    relative = [f"{name} imports {one}" for name in FILES for one in IMPORTS[name] if one.startswith(".")]

    assert (unknown, relative) == ([], [])


def test_nothing_edits_the_import_path() -> None:
    edits = [
        f"{name} line {node.lineno}"
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node) in {"sys.path", "sys.meta_path", "sys.path_hooks"}
    ]

    assert edits == []


def test_no_folder_or_file_has_a_name_that_says_nothing() -> None:
    assert [name for name in FILES if BANNED & set(name.split("."))] == []


def test_files_are_short_and_so_are_deployed_functions() -> None:
    files = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in FILES.items()}
    functions = {
        f"{name}.{node.name}": (node.end_lineno or 0) - node.lineno + 1
        for name in deployed()
        for node in ast.walk(TREES[name])
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }

    assert {name: lines for name, lines in files.items() if lines > LINES_OF_A_FILE} == {}
    assert {name: lines for name, lines in functions.items() if lines > LINES_OF_A_FUNCTION} == {}
