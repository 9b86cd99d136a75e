"""What a thousand owners cost a month: counted calls and units of one owner's day, times list prices.

`python -m benchmarks.cost`. The counts are those that `python -m benchmarks` and `python -m benchmarks.growth` print (docs/benchmarks.md);
what an owner does in a day is an assumption, and so are the prices: change both here. Models are not in it: docs/models.md.
"""

from dataclasses import dataclass
from typing import Final

OWNERS: Final = 1_000
DAYS: Final = 30
REGION: Final = "us-east-1"
PRICED: Final = "on-demand list prices as of 2025, free tiers not counted"
MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Deed:
    """One operation of an owner's day with what it takes: units of the table, calls of bucket, key and queues, the function's time."""

    name: str
    a_day: float
    reads: float
    writes: float
    gets: float = 0
    puts: float = 0
    decrypts: float = 0
    sends: float = 0
    milliseconds: float = 0
    megabytes: int = 1769
    api: int = 1


DAY: Final = (
    # Every tenth request meets a process without this owner's keys and index.
    Deed("search", 30, reads=102, writes=10, gets=0.2, decrypts=0.1, milliseconds=60),
    Deed("context", 30, reads=102, writes=8, gets=0.2, decrypts=0.1, milliseconds=60),
    Deed("add, edit, delete", 5, reads=2, writes=12, gets=0.1, puts=1, decrypts=0.1, milliseconds=30, megabytes=1024),
    Deed("list, 50 a page", 3, reads=104, writes=0, decrypts=0.1, milliseconds=60, megabytes=1024),
    Deed(
        "hand in a conversation", 10, reads=3, writes=8, puts=1, decrypts=0.1, sends=1, milliseconds=40, megabytes=1024
    ),
    # Five facts each; a model's answer is waited for, and that time is paid.
    Deed("learn from it", 10, reads=20, writes=65, gets=2, puts=1, decrypts=1, sends=3, milliseconds=5_000, api=0),
    # Repair and fold list and read the journal, the index is read from the table and stored.
    Deed("be tidied", 10, reads=200, writes=30, gets=15, puts=2, decrypts=1, sends=4, milliseconds=800, api=0),
)
PRICES: Final = {
    "table reads": 0.125 / MILLION,
    "table writes": 0.625 / MILLION,
    "bucket reads": 0.40 / MILLION,
    "bucket writes": 5.00 / MILLION,
    "key": 3.00 / MILLION,
    "queues": 0.50 / MILLION,
    "functions, time": 0.0000133334,
    "functions, calls": 0.20 / MILLION,
    "API": 1.00 / MILLION,
    "logs": 0.50,
    "stored, table": 0.25 + 0.20,
    "stored, bucket": 0.023,
}
"""USD per unit, call, gigabyte-second (arm64), gigabyte (logs), gigabyte and month (the table's with its recovery)."""
TABLE_GIGABYTES: Final = 0.0127 * OWNERS
BUCKET_GIGABYTES: Final = 0.0045 * OWNERS
"""After a year at fifty facts a day (benchmarks.growth)."""
LOG_BYTES: Final = 700
"""Of one call: the function's line, Lambda's own, and the gateway's."""


def amounts() -> dict[str, float]:
    """Return what a thousand owners use in a month, in the units of PRICES."""
    a_month = {deed.name: deed.a_day * DAYS * OWNERS for deed in DAY}
    calls = sum(a_month.values())

    def total(name: str) -> float:
        return float(sum(a_month[deed.name] * getattr(deed, name) for deed in DAY))

    seconds = sum(a_month[deed.name] * deed.milliseconds / 1000 * deed.megabytes / 1024 for deed in DAY)
    return {
        "table reads": total("reads"),
        "table writes": total("writes"),
        "bucket reads": total("gets"),
        "bucket writes": total("puts"),
        "key": total("decrypts"),
        "queues": total("sends"),
        "functions, time": seconds,
        "functions, calls": calls,
        "API": total("api"),
        "logs": calls * LOG_BYTES / 1e9,
        "stored, table": TABLE_GIGABYTES,
        "stored, bucket": BUCKET_GIGABYTES,
    }


def main() -> None:
    used = amounts()
    print(f"{OWNERS:,} owners, {DAYS} days, {REGION}, {PRICED}\n")
    print("| | amount | USD |\n|---|---|---|")
    for name, amount in used.items():
        shown = f"{amount:,.1f}".removesuffix(".0")
        print(f"| {name} | {shown} | {amount * PRICES[name]:,.2f} |")
    print(f"| **in all** | | **{sum(amount * PRICES[name] for name, amount in used.items()):,.2f}** |")


if __name__ == "__main__":
    main()
