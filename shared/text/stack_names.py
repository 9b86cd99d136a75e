"""Names of languages, frameworks, databases and tools as people write them. A name that is also a word counts only as a name."""

from typing import Final

from shared.text.han import simplified
from shared.text.pattern import Pattern

_CODED: Final = (
    r"(?:用|使用|改用|采用|会|写|语言|喜欢|[Uu]s(?:e|es|ed|ing)|[Ww]rit(?:e|es|ten|ing)|[Pp]refers?|[Ll]ikes?|\bin|\bwith)"
    r"\s{0,2}"
)
_ALSO_WORDS: Final = {
    "Go": "Golang",
    "Rust": r"\bRust\s?语言",
    **dict.fromkeys(
        ("Swift", "Ruby", "Dart", "Oracle", "Phoenix", "Cursor", "Notion", "Electron", "Snowflake", "Poetry"), ""
    ),
    "Express": r"Express\.js",
}
_SHORT: Final = 4
NAMES: Final = {
    "languages": (
        *(
            "TypeScript",
            "JavaScript",
            "Python",
            "Java",
            "Kotlin",
            "Scala",
            "C++",
            "C#",
            "PHP",
            "Haskell",
            "Elixir",
            "Erlang",
            "Clojure",
        ),
        *("Zig", "Julia", "Lua", "Perl", "OCaml", "F#", "Objective-C", "Go", "Rust", "Swift", "Ruby", "Dart"),
    ),
    "frameworks": (
        *(
            "FastAPI",
            "Django",
            "Flask",
            "React",
            "Vue",
            "Angular",
            "Svelte",
            "Next.js",
            "Nuxt",
            "Node.js",
            "NestJS",
            "Laravel",
            "Rails",
        ),
        *("Spring Boot", "Flutter", "PyTorch", "TensorFlow", "Tailwind", "Electron", "Phoenix", "Express"),
    ),
    "databases": (
        *(
            "PostgreSQL",
            "MySQL",
            "SQLite",
            "MongoDB",
            "Redis",
            "DynamoDB",
            "MariaDB",
            "Cassandra",
            "Elasticsearch",
            "ClickHouse",
        ),
        *("Oracle", "SQL Server", "Neo4j", "DuckDB", "Snowflake", "BigQuery", "Milvus", "TiDB"),
    ),
    "tools": (
        *(
            "Docker",
            "Kubernetes",
            "Terraform",
            "Git",
            "GitHub",
            "GitLab",
            "Jenkins",
            "VS Code",
            "Vim",
            "Neovim",
            "Emacs",
            "IntelliJ",
        ),
        *(
            "PyCharm",
            "Cursor",
            "Claude Code",
            "Webpack",
            "Vite",
            "pytest",
            "Jest",
            "Ruff",
            "ESLint",
            "Prettier",
            "pnpm",
            "Poetry",
            "Ansible",
        ),
        *("Grafana", "Prometheus", "Kafka", "RabbitMQ", "Nginx", "Figma", "Notion", "Jira"),
    ),
}


_WHOLE: Final = r"(?<![A-Za-z0-9_.@/-]){}(?![A-Za-z0-9_@+#-])"


def _form(name: str) -> str:
    """Return how a name is found. A short one counts only as it is written here, one that is also a word only where it is used."""
    escaped = "".join(sign if sign.isalnum() else rf"\{sign}" for sign in name)
    if name in _ALSO_WORDS:
        used = rf"{_CODED}{escaped}(?![A-Za-z0-9_@+#-])"
        return "|".join(form for form in (used, _ALSO_WORDS[name]) if form)
    whole = _WHOLE.format(escaped)
    return f"(?i:{whole})" if len(name) > _SHORT else whole


_FORMS: Final = {part: {name: Pattern(_form(name)) for name in found} for part, found in NAMES.items()}


def named(text: str) -> dict[str, list[str]]:
    """Return the names that stand in a text, by part; parts without any are left out."""
    plain = simplified(text)
    found = {part: [name for name, form in forms.items() if form.search(plain)] for part, forms in _FORMS.items()}
    return {part: these for part, these in found.items() if these}
