"""Use cases of the maintenance function. Apart from the others, since only functions with the search layer can import them."""

from functools import cache

from shared.bootstrap import commits, maintenance_queue, vaults, work_queue
from shared.bootstrap.embeddings import meaning
from shared.bootstrap.recall import indexes
from shared.keeping.duties import Duties
from shared.keeping.scheduling import Scheduling
from shared.keeping.tidying import Tidying
from shared.learning.waiting import Waiting
from shared.recall.building import Builder
from shared.storage.erasure import Erasure
from shared.storage.rebuild import Rebuild


@cache
def duties() -> Duties:
    waiting = Waiting(vaults(), work_queue())
    tidying = Tidying(commits(), Rebuild(vaults(), work_queue()), waiting, Builder(indexes(), meaning()))
    return Duties(Scheduling(vaults(), maintenance_queue()), tidying, Erasure(vaults()))
