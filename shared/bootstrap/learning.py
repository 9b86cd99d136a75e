"""Use cases of the extraction function."""

import time
from functools import cache

from shared import config
from shared.bootstrap import commits, vaults, work_queue
from shared.bootstrap.models import language_model
from shared.learning.comparison import Comparison
from shared.learning.delivery import Delivery
from shared.learning.extraction import Extraction
from shared.learning.extractor import Extractor, RulesExtractor
from shared.learning.model_extractor import ModelExtractor
from shared.learning.notes import NotesExtractor
from shared.learning.planning import Planner


@cache
def delivery() -> Delivery:
    planner = Planner(vaults(), config.bounds().active)
    return Delivery(Extraction(commits(), planner, NotesExtractor(extractor()), Comparison(vaults())), work_queue())


@cache
def extractor() -> Extractor:
    """Return the extractor that asks the model of the environment; the rules where it names none."""
    model = language_model()
    return RulesExtractor() if model is None else ModelExtractor(model, time.monotonic)
