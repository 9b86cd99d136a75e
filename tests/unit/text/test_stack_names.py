"""Names of languages, frameworks, databases and tools, told from the words that they also are."""

import pytest

from shared.text.stack_names import NAMES, named


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I prefer TypeScript and typescript", {"languages": ["TypeScript"]}),
        ("后端用 Go 写，Rust 语言写工具", {"languages": ["Go", "Rust"]}),
        ("written in Go with PostgreSQL 16", {"languages": ["Go"], "databases": ["PostgreSQL"]}),
        ("Go to the shop, use the Express lane, the rust on the swift ruby", {}),
        ("Java is not JavaScript", {"languages": ["JavaScript", "Java"]}),
        ("C++ and C# but no C", {"languages": ["C++", "C#"]}),
        ("前端是 Vue.js 和 Next.js，部署在 Kubernetes", {"frameworks": ["Vue", "Next.js"], "tools": ["Kubernetes"]}),
        ("a javascripty thing in my_python_folder/Python", {}),
        ("reactions to a reactor", {}),
        ("React 与 React Native", {"frameworks": ["React"]}),
        ("the git repository", {}),
        ("We use Git and GitHub", {"tools": ["Git", "GitHub"]}),
        ("an express.js server", {}),
        ("an Express.js server", {"frameworks": ["Express"]}),
        ("", {}),
    ],
)
def test_names_are_found_as_names(text: str, found: dict[str, list[str]]) -> None:
    assert named(text) == {part: sorted(names, key=list(NAMES[part]).index) for part, names in found.items()}


def test_no_name_stands_in_two_parts() -> None:
    names = [name for found in NAMES.values() for name in found]
    assert len(names) == len(set(names))
