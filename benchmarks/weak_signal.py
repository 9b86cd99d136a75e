"""How good the best find of a weak message must be: questions to one's own memories beside other people's questions to them.

    python -m benchmarks.weak_signal --data DIR

`DIR` holds sets as benchmarks/retrieval.py reads them. A message with a weak signal ("that one", 那个) recalls only when the best find
holds enough of its words (`GOOD_COVERAGE`, shared/recall/context.py). One JSON line per set and bound: the share of questions of the
same user that recall, and of as many questions of other users that do.
"""

import argparse
import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from shared.domain.ids import ulid
from shared.recall.index import Entry, Index
from shared.text.tokens import query_terms

NOW: Final = datetime(2026, 11, 30, tzinfo=UTC)
BOUNDS: Final = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
SCOPE: Final = bytes(16)


def rows(path: Path) -> list[dict[str, Any]]:
    """Read JSON lines."""
    return [json.loads(row) for row in path.read_text("utf-8").split("\n") if row]


def stores(folder: Path) -> dict[str, Index]:
    """Return an index of each user's memories."""
    entries: dict[str, list[Entry]] = defaultdict(list)
    rng = random.Random(1)
    for row in rows(folder / "docs.jsonl"):
        made = entries[row["user"]]
        name = ulid(NOW, rng.randbytes)
        made.append(Entry(name, 1, row["text"], 0, 0, 5, 0, SCOPE))
    return {user: Index.build(made) for user, made in entries.items()}


def best_coverage(index: Index, query: str) -> float:
    """Return the largest share of the query's words that one of its finds holds."""
    found = index.search(query_terms(query, now=NOW)).candidates(28)
    return float(found.coverage.max()) if len(found) else 0.0


def asked(folder: Path) -> Iterator[tuple[float, float]]:
    """Yield for each question the best coverage in its user's memories, and in those of somebody else."""
    indexes = stores(folder)
    rng = random.Random(2)
    for row in rows(folder / "queries.jsonl"):
        other = rng.choice([user for user in indexes if user != row["user"]])
        yield best_coverage(indexes[row["user"]], row["query"]), best_coverage(indexes[other], row["query"])


def lines(name: str, pairs: Sequence[tuple[float, float]]) -> Iterator[str]:
    """Yield one line per bound."""
    own, others = np.array(pairs).T
    for bound in BOUNDS:
        recalls, wrongly = float((own >= bound).mean()), float((others >= bound).mean())
        yield json.dumps(
            {"set": name, "bound": bound, "own": round(recalls, 3), "others": round(wrongly, 3)}
            | {"difference": round(recalls - wrongly, 3)}
        )


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.weak_signal", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a folder of sets")
    folders = sorted(path.parent for path in parser.parse_args().data.glob("*/queries.jsonl"))
    if not folders:
        print("There is no set: a folder with docs.jsonl and queries.jsonl.", file=sys.stderr)
        return 2
    for folder in folders:
        for line in lines(folder.name, list(asked(folder))):
            print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
