"""Use cases of the extraction function."""

from functools import cache

from shared import config
from shared.bootstrap import commits, vaults, work_queue
from shared.learning.delivery import Delivery
from shared.learning.extraction import Extraction
from shared.learning.extractor import RulesExtractor
from shared.learning.planning import Planner


@cache
def delivery() -> Delivery:
    planner = Planner(vaults(), config.bounds().active)
    return Delivery(Extraction(commits(), planner, RulesExtractor()), work_queue())
