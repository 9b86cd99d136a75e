"""Use cases of the maintenance function. Apart from the others, since only functions with the search layer can import them."""

from functools import cache

from shared import config
from shared.bootstrap import commits, maintenance_queue, random, vaults, work_queue
from shared.bootstrap.embeddings import meaning
from shared.bootstrap.models import language_model
from shared.bootstrap.recall import indexes
from shared.keeping.cursors import Cursors
from shared.keeping.forgetting.steps import Forget, Forgotten
from shared.keeping.importing.applying import Import, Imported
from shared.keeping.maintenance.due_owners import Scheduling
from shared.keeping.maintenance.duties import Duties
from shared.keeping.maintenance.recollecting import Recollecting
from shared.keeping.maintenance.schedule_steps import Scheduled, ScheduleKept
from shared.keeping.maintenance.tidying import Tidying
from shared.keeping.memories.listing import Listing
from shared.keeping.scenes.upkeep import SceneClearing, SceneUpkeep
from shared.keeping.sessions.sessions import Sessions
from shared.keeping.sessions.silent import SilentSessions
from shared.learning.accepting import Accepting
from shared.learning.consolidation.consolidating import Consolidation
from shared.learning.consolidation.proposing import ModelProposer, RulesProposer
from shared.learning.consolidation.retiring import Retirement
from shared.learning.describing import ModelDescriber
from shared.learning.evolution.clearing import SuggestionClearing
from shared.learning.evolution.evolving import Evolution
from shared.learning.evolution.naming import ModelNamer, RulesNamer
from shared.learning.persona.clearing import PersonaClearing
from shared.learning.persona.portraying import ModelPortrayer, RulesPortrayer
from shared.learning.persona.refreshing import PersonaRefresh
from shared.learning.waiting import Waiting
from shared.recall.building import Builder
from shared.storage.erasure import Erasure
from shared.storage.rebuild import Rebuild
from shared.storage.transactions import Limits


def _sessions() -> Sessions:
    settings = config.bounds()
    bounds = Limits(settings.quota_bytes, settings.active)
    return Sessions(vaults(), bounds, Accepting(vaults(), work_queue(), bounds, 0), Listing(vaults(), Cursors(random)))


@cache
def duties() -> Duties:
    waiting = Waiting(vaults(), work_queue())
    model = language_model()
    clearing = (SceneClearing(commits()), PersonaClearing(commits()), SuggestionClearing(commits()))
    proposer = ModelProposer(model) if model else RulesProposer()
    consolidating = (Retirement(commits()), Consolidation(commits(), proposer))
    evolution = Evolution(commits(), ModelNamer(model) if model else RulesNamer())
    persona = PersonaRefresh(commits(), ModelPortrayer(model) if model else RulesPortrayer())
    scenes = SceneUpkeep(commits(), ModelDescriber(model) if model else None)
    steps = (*consolidating, *clearing, evolution, persona, scenes)
    builder = Builder(indexes(), meaning())
    tidying = Tidying(
        commits(),
        Rebuild(vaults(), work_queue()),
        waiting,
        builder,
        steps,
        clearing,
        first=(
            Recollecting(),
            Scheduled(),
            SilentSessions(_sessions()),
            Import(commits()),
            Forget(commits(), clearing, work_queue()),
        ),
        last=(Imported(), Forgotten(), ScheduleKept()),
    )
    return Duties(Scheduling(vaults(), maintenance_queue()), tidying, Erasure(vaults()))
