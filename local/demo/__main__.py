"""`python -m local.demo`: run all parts; the exit status is 0 only when everything was as it must be."""

import io
import logging
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TextIO

from local.demo import acts, story
from local.demo.client import Client
from local.demo.remains import Wire
from local.demo.screen import Screen
from local.invocation import Handler
from local.stack import Stack

RULES = {"MODEL_PROVIDER": "rules", "MODEL_ID": "", "MODEL_URL": "", "MODEL_API_KEY": ""}
"""The demo learns without a model, whatever the caller's environment says: it must end the same way everywhere."""


def main(out: TextIO, handlers: Mapping[str, Handler] | None = None) -> int:
    """Run the demo on a stack of its own and return the exit status; `handlers` replace functions, as in `Stack.start`."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    started = time.perf_counter()
    screen = Screen(out)
    screen.line("Nacre · 珠层: long-term memory for agents, sealed per owner. Everything here runs on this machine.")
    with Wire() as wire, Stack.start(schedule=False, environment=RULES, handlers=handlers) as stack:
        ann, bob = Client(stack, "ann"), Client(stack, "bob")
        parts: list[Callable[[], None]] = [
            partial(acts.consent, screen, ann),
            *(partial(acts.learn, screen, ann, told) for told in story.CONVERSATIONS),
            partial(acts.ask, screen, ann),
            partial(acts.context, screen, ann),
            partial(acts.handle, screen, ann),
            partial(acts.stranger, screen, ann, bob),
            partial(acts.tidy, screen, ann, stack),
            partial(acts.prove, screen, stack, wire),
        ]
        for part in parts:
            try:
                part()
            except (LookupError, TypeError, AttributeError, OSError) as problem:
                screen.expect(False, f"this part could not go on: {type(problem).__name__}")
    screen.line()
    total = f"{screen.held} of {screen.held + len(screen.failed)} expectations hold"
    screen.line(f"{total}; {time.perf_counter() - started:.1f} s.", "bad" if screen.failed else "good")
    return 1 if screen.failed else 0


if __name__ == "__main__":
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    sys.exit(main(sys.stdout))
