"""The step of maintenance that finishes or takes back what dead writers left behind, and brings back what the table has lost.

A comparison with the whole journal is done where an operator asks for it, where something was noticed that only it can judge (`WANTED`),
and where repair doubts. What it could not bring back is tried again once a day, so that a damage which stays costs no more than that.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta

from shared.domain import limits
from shared.domain.errors import SealBroken
from shared.keeping.maintenance.visits import Visit
from shared.observability import note, warn
from shared.storage import names, preferences
from shared.storage.commit import Commits
from shared.storage.comparison import Compared, Comparison
from shared.storage.repair import Repair
from shared.storage.survey import Survey

WANTED, LEFT_AT = "compare", "compared_at"
"""Of maintenance's own memory: a comparison is wanted; when the last one left something that it could not bring back."""
AGAIN = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Repairing:
    """Repairs an owner's journal and table; its survey is what folding goes by."""

    commits: Commits
    name: str = "repair"

    def run(self, visit: Visit) -> Mapping[str, int]:
        """Compare where that is wanted, repair, and where repair doubts compare and repair once more."""
        compared = compare(self.commits, visit) if visit.compare or _missed(visit) else None
        survey = self._repair(visit, compared)
        damaged = survey.damaged
        if survey.doubts and compared is None and not _lately(visit):
            compared = compare(self.commits, visit)
            survey = self._repair(visit, compared)
        if survey.replayed:  # what was counted when it was applied first, and then lost, would be counted twice
            compared = compare(self.commits, visit)
        for small in survey.smalls:
            if small.at > visit.now - limits.FOLD_AFTER:
                visit.look_again(small.at + limits.FOLD_AFTER)
            if not small.settled:
                visit.look_again(visit.now + limits.REPAIR_AFTER)
        counts = {"replayed": survey.replayed, "removed": survey.removed, "damaged": damaged}
        return counts | ({f"compared_{name}": count for name, count in asdict(compared).items()} if compared else {})

    def _repair(self, visit: Visit, compared: Compared | None) -> Survey:
        certain = compared is not None and compared.certain
        repair = Repair(self.commits, visit.opened.keys, visit.journal, visit.now, compared=certain)
        visit.survey = repair.run()
        return visit.survey


def compare(commits: Commits, visit: Visit) -> Compared:
    """Compare the owner's rows with the whole journal, and remember what is left to do. Raises Unavailable, Busy."""
    compared = Comparison(commits, visit.opened.keys, visit.journal, visit.now).run()
    visit.compare = False
    visit.note(**{WANTED: None if compared.certain else 1, LEFT_AT: visit.now if compared.left else None})
    if not compared.certain:
        visit.look_again(visit.now + limits.REPAIR_AFTER)
    found = {name: count for name, count in asdict(compared).items() if count}
    if found:
        harmless = {"counted", "waiting", "missed"}  # a sum that was set right, and somebody at work, are no loss
        tell = note if found.keys() <= harmless else warn
        tell("compared", owner=visit.owner, **found)
    visit.refresh()
    return compared


def want(visit: Visit) -> None:
    """Ask for a comparison in a visit that follows soon: something is missing that only it can find."""
    if not _lately(visit):
        visit.note(**{WANTED: 1})
        visit.look_again(visit.now)


def _missed(visit: Visit) -> bool:
    """Tell whether something is known to be missing: it was noted, settings do not open, or what maintenance remembers of an owner whom
    it has visited is gone, and who knows what with it."""
    if visit.rebuilt or _lately(visit):
        return False
    try:
        preferences.preferences_of(visit.opened)
    except SealBroken:
        return True
    return (
        visit.noticed
        or WANTED in visit.state
        or (names.UPKEEP not in visit.opened.items and "index" in visit.opened.head)
    )


def _lately(visit: Visit) -> bool:
    left_at = visit.moment(LEFT_AT)
    return left_at is not None and visit.now < left_at + AGAIN
