"""Judging one statement about a person before it is kept: it says what the facts say that it names, and nothing else. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from shared.domain import limits
from shared.domain.memory import Scope
from shared.learning.answers.grounding import grounded, plain
from shared.learning.persona.proposals import Proposal
from shared.storage.persona import PARTS, Statement
from shared.text.normalise import full_width_length

OF_PROJECTS: Final = frozenset({"languages", "frameworks", "databases", "tools", "focus_areas", "active_projects"})
"""What facts of a project alone may say of a person: names, no sentences. The persona is told in every project."""
NAME_FULL_WIDTH: Final = 30


@dataclass(frozen=True, slots=True)
class Offered:
    """What a model was shown under one alias: the memories behind it and its text; `scope` of a fact, `part` of what was known before."""

    ids: tuple[str, ...]
    text: str
    scope: Scope | None
    part: str = ""

    @property
    def of_person(self) -> bool:
        """Whether it says something of the person and not only of a project."""
        return self.scope is Scope.USER or (self.scope is None and self.part not in OF_PROJECTS)


def sound(proposal: Proposal, offered: Mapping[str, Offered]) -> Statement | None:
    """Return the statement; None where it may not be kept.

    It rests on at least one of what was offered and on nothing else, has no secret, is no order and no talk of a model's, is in the
    language of its facts, has no number and no name that they do not have and most of its words from them, and denies only what they
    deny. What rests on facts of projects alone is a name, of a part of OF_PROJECTS.
    """
    basis = [offered.get(alias) for alias in dict.fromkeys(proposal.aliases)]
    rests = [one for one in basis if one is not None]
    if (
        proposal.part not in PARTS
        or not rests
        or len(rests) < len(basis)
        or not plain(proposal.text, limits.FACT_FULL_WIDTH)
    ):
        return None
    if not any(one.of_person for one in rests) and not _name(proposal):
        return None
    if not grounded(proposal.text, [one.text for one in rests]):
        return None
    return Statement(proposal.part, proposal.text, tuple(dict.fromkeys(i for one in rests for i in one.ids)))


def _name(proposal: Proposal) -> bool:
    return proposal.part in OF_PROJECTS and full_width_length(proposal.text) <= NAME_FULL_WIDTH
