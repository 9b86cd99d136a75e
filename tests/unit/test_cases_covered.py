"""Every case from the field that the service answers for has a test that claims its number."""

import ast
from pathlib import Path

TESTS = Path(__file__).parents[1]
ANSWERED_FOR = frozenset(
    {
        1,
        2,
        4,
        6,
        7,
        9,
        10,
        11,
        13,
        15,
        16,
        17,
        18,
        21,
        22,
        24,
        25,
        26,
        27,
        28,
        29,
        31,
        33,
        34,
        36,
        38,
        39,
        40,
        41,
        42,
        45,
        46,
        47,
        48,
        49,
        50,
        51,
        53,
        54,
        55,
        57,
        58,
        59,
    }
    | {
        61,
        62,
        63,
        64,
        65,
        67,
        69,
        70,
        71,
        74,
        76,
        77,
        79,
        80,
        81,
        83,
        84,
        87,
        88,
        89,
        90,
        92,
        93,
        95,
        96,
        98,
        99,
        100,
        101,
    }
)


def claimed(source: str) -> set[int]:
    """The numbers in `@pytest.mark.case(number)` of the test functions of a module."""
    numbers: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.case":
                    numbers |= {
                        one.value for one in mark.args if isinstance(one, ast.Constant) and type(one.value) is int
                    }
    return numbers


def test_every_case_that_is_answered_for_is_claimed_by_a_test() -> None:
    found = set().union(*(claimed(path.read_text()) for path in TESTS.rglob("test_*.py")))
    assert ANSWERED_FOR - found == set()


def test_only_marked_test_functions_claim_a_case() -> None:
    source = "@pytest.mark.case(1)\ndef test_a(): ...\n@pytest.mark.case(2)\ndef helper(): ...\n# case(3)\n@case(4)\ndef test_b(): ..."
    assert claimed(source) == {1}
