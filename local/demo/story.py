"""What the demo says: two working conversations, six questions, and the texts that nobody may find in storage."""

from typing import NamedTuple


class Told(NamedTuple):
    """A conversation, the project it belongs to, and its language's name."""

    language: str
    project: str
    messages: tuple[tuple[str, str], ...]


class Asked(NamedTuple):
    """A question, the project it is asked in, and a piece of the memory that must come first."""

    query: str
    project: str
    first: str


PASSWORDS = ("Perle-7Jx2-Lagune", "Nautilus!42-reef")

CONVERSATIONS = (
    Told(
        "中文",
        "shop-api",
        (
            ("user", "早上好，昨晚的球赛真精彩，咖啡也喝好了。"),
            ("assistant", "早上好！今天从接口重构开始吗？我个人偏爱 Django。"),
            ("user", "我们决定后端统一使用 FastAPI，接口前缀是 /api/v2。"),
            ("assistant", "好的，我按这个来搭建。数据库怎么连接？"),
            ("user", f"测试库的数据库密码是 {PASSWORDS[0]}。"),
            ("user", "我喜欢简洁的代码风格，注释都用中文写。这个列表接口要不要分页？"),
        ),
    ),
    Told(
        "English",
        "atlas",
        (
            ("user", "Hi! The train was late again, but here I am."),
            ("assistant", "Welcome back. I would always choose Jenkins for releases."),
            ("user", "We decided to deploy with blue-green releases every Tuesday."),
            ("assistant", "Understood. How do I reach the staging system?"),
            ("user", f"The staging password is {PASSWORDS[1]}."),
            ("user", "I prefer small pull requests with tests included. Could you open the first one?"),
        ),
    ),
)

QUESTIONS = (
    Asked("后端用什么框架？", "shop-api", "FastAPI"),
    Asked("How do we deploy?", "atlas", "blue-green"),
    Asked("我喜欢什么样的代码风格？", "shop-api", "简洁"),
    Asked("What size of pull requests do I prefer?", "atlas", "small pull requests"),
    Asked("测试库的密码是什么？", "shop-api", "***"),
    Asked("What is the staging password?", "atlas", "***"),
)

CONTINUE = "继续上次的后端接口重构"
EDITED = "We decided to deploy with canary releases every Thursday."
WORDS = (
    "FastAPI",
    "blue-green",
    "Tuesday",
    "Thursday",
    "球赛真精彩",
    "代码风格",
    "接口重构",
    "pull requests",
    "shop-api",
)
CONTROL = "control: 对照文本 planted in the clear"


def canaries() -> tuple[str, ...]:
    """Return every text that went in, whole, and words of them that would betray one."""
    said = [text for told in CONVERSATIONS for _, text in told.messages]
    return (*PASSWORDS, *said, *(asked.query for asked in QUESTIONS), CONTINUE, EDITED, *WORDS)
