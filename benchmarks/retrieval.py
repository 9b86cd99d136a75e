"""How well memories are found, on labelled sets.

    python -m benchmarks.retrieval --data DIR                        one JSON line per set: recall@5, recall@10, ndcg@10, mrr, queries/s
    python -m benchmarks.retrieval --data DIR --baseline bm25s,fts5  those libraries' lines beside ours
    python -m benchmarks.retrieval --data DIR --peer mem0,langgraph  milliseconds per memory and query, theirs as multiples of ours
    python -m benchmarks.retrieval --data DIR --ablate               the same figures without each choice
    python -m benchmarks.retrieval --data DIR --twins                how often a current fact comes before its outdated twin
    python -m benchmarks.retrieval --versions                        the same for pairs of short facts that come with the project

`DIR` is a set or a folder of sets; benchmarks/retrieval_sets.py says what is in one, benchmarks/retrieval_product.py what the figures are.
The sets are not part of the project: their licences differ. What others need installs from benchmarks/requirements-peers.txt.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.retrieval_ablations import ablations
from benchmarks.retrieval_baselines import BASELINES, Missing
from benchmarks.retrieval_peers import PEERS, compared
from benchmarks.retrieval_product import figures, product
from benchmarks.retrieval_sets import IllFormed, Question, Store, folders, read
from benchmarks.retrieval_twins import TWINS, current_first
from benchmarks.retrieval_versions import shares
from shared.recall.ranking import DEFAULT, RRF

Line = dict[str, Any]


def measured(stores: Store, questions: Sequence[Question], baselines: Sequence[str]) -> Iterator[Line]:
    """Our line and one of each baseline; lines name their engine when there are several."""
    size = {"memories": sum(map(len, stores.values())), "queries": len(questions)}
    yield ({"engine": "nacre"} if baselines else {}) | size | figures(questions, product(stores))
    for baseline in baselines:
        for engine, found in BASELINES[baseline](stores, questions):
            yield {"engine": engine} | size | found


def twins(stores: Store, questions: Sequence[Question]) -> Iterator[Line]:
    """How often the current version comes first, for each kind of outdated twin: by default, by text and age alone, with equal weights."""
    for kind in TWINS:
        share, met = current_first(stores, questions, DEFAULT, kind)
        yield {"twin": kind, "answers": met, "current_first": round(share, 4)} | {
            name: round(current_first(stores, questions, preset, kind)[0], 4)
            for name, preset in (("without_newer_first", replace(DEFAULT, newer_first=False)), ("rrf", RRF))
        }


def lines(options: argparse.Namespace, stores: Store, questions: Sequence[Question]) -> Iterator[Line]:
    """What was asked for of one set. Raises Missing."""
    if options.ablate:
        for without, found in ablations(stores, questions):
            yield {"choice": without} | found
    elif options.twins:
        yield from twins(stores, questions)
    elif options.peer:
        yield from compared(stores, questions, options.peer)
    else:
        yield from measured(stores, questions, options.baseline)


def _names(known: Mapping[str, object]) -> Callable[[str], list[str]]:
    def parsed(text: str) -> list[str]:
        names = text.split(",")
        if wrong := [name for name in names if name not in known]:
            raise argparse.ArgumentTypeError(f"{', '.join(wrong)}: known are {', '.join(known)}")
        return names

    return parsed


def main(arguments: Sequence[str]) -> int:
    """Measure every set of the data folder; 2 and a sentence on standard error when it cannot be done."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.retrieval", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, metavar="DIR")
    parser.add_argument("--baseline", type=_names(BASELINES), default=[], metavar="NAME,…")
    parser.add_argument("--peer", type=_names(PEERS), default=[], metavar="NAME,…")
    parser.add_argument("--ablate", action="store_true")
    parser.add_argument("--twins", action="store_true")
    parser.add_argument("--versions", action="store_true")
    options = parser.parse_args(arguments)
    if options.versions:
        for line in shares({"current_first": DEFAULT, "without_newer_first": replace(DEFAULT, newer_first=False)}):
            print(json.dumps(line, ensure_ascii=False), flush=True)
        return 0
    if options.data is None:
        parser.error("--data is needed, but for --versions")
    try:
        for folder in folders(options.data):
            stores, questions = read(folder)
            for line in lines(options, stores, questions):
                print(json.dumps({"set": folder.name} | line, ensure_ascii=False), flush=True)
    except (IllFormed, Missing) as problem:
        print(f"retrieval: {problem}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
