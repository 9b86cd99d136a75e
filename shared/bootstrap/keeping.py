"""Use cases of the memories function. Apart from the others, so that no function pays for what it does not use."""

from functools import cache

from shared import config
from shared.bootstrap import commits, maintenance_queue, random, vaults, work_queue
from shared.keeping.account import Account
from shared.keeping.audit.auditing import Auditing
from shared.keeping.cursors import Cursors
from shared.keeping.exporting.pages import Exporting
from shared.keeping.forgetting.asking import Forgetting
from shared.keeping.importing.receiving import Importing
from shared.keeping.memories.as_of import AsOf
from shared.keeping.memories.edits import Edits
from shared.keeping.memories.listing import Listing
from shared.keeping.memories.memories import Memories
from shared.keeping.overview import Overview
from shared.keeping.portrait import Portrait
from shared.keeping.preferences import Choices
from shared.keeping.scenes.deletion import SceneDeletion
from shared.keeping.scenes.scenes import Scenes
from shared.keeping.sessions.sessions import Sessions
from shared.keeping.suggesting import Suggestions
from shared.learning.accepting import Accepting
from shared.learning.consolidation.undoing import Undoing
from shared.learning.tasks import Tasks
from shared.models.portability import settings_of
from shared.storage.erasure import Erasure
from shared.storage.transactions import Limits


@cache
def _cursors() -> Cursors:
    return Cursors(random)


@cache
def memories() -> Memories:
    return Memories(commits())


@cache
def edits() -> Edits:
    return Edits(memories())


@cache
def listing() -> Listing:
    return Listing(vaults(), _cursors())


@cache
def auditing() -> Auditing:
    return Auditing(memories(), _cursors())


@cache
def account() -> Account:
    return Account(Erasure(vaults()), maintenance_queue())


@cache
def forgetting() -> Forgetting:
    return Forgetting(commits())


@cache
def as_of() -> AsOf:
    return AsOf(vaults(), _cursors())


@cache
def exporting() -> Exporting:
    return Exporting(vaults(), _cursors(), auditing())


@cache
def importing() -> Importing:
    from shared.keeping.foreign import detecting, reading  # noqa: PLC0415 - few requests need them

    return Importing(commits(), settings_of, detecting.detect, reading.read)


@cache
def sessions() -> Sessions:
    settings = config.bounds()
    return Sessions(vaults(), Limits(settings.quota_bytes, settings.active), accepting(), listing())


@cache
def choices() -> Choices:
    return Choices(commits())


@cache
def overview() -> Overview:
    return Overview(commits(), _cursors(), config.daily_conversations())


@cache
def scenes() -> Scenes:
    return Scenes(commits(), _cursors())


@cache
def scene_deletion() -> SceneDeletion:
    return SceneDeletion(scenes())


@cache
def accepting() -> Accepting:
    settings = config.bounds()
    bounds = Limits(settings.quota_bytes, settings.active)
    return Accepting(vaults(), work_queue(), bounds, config.daily_conversations())


@cache
def tasks() -> Tasks:
    return Tasks(vaults(), work_queue(), _cursors())


@cache
def undoing() -> Undoing:
    return Undoing(commits())


@cache
def portrait() -> Portrait:
    return Portrait(commits())


@cache
def suggestions() -> Suggestions:
    return Suggestions(commits(), _cursors())
