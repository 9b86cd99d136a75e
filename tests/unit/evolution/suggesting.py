"""What tests of suggestions share: memories that are alike, and looks at what is suggested."""

from shared.domain.memory import Category, Memory, Scope
from shared.storage.suggestions import Decision, Suggestion
from tests.builders import World

DEPLOY = (
    "Staging deploy failed with a migration error → rolled back and reran the migrations by hand → deploy succeeded",
    "The deploy to staging failed on a migration → rollback, then migrations rerun by hand → the deploy went through",
    "A migration error broke the staging deploy → rolled the release back, reran migrations → worked",
)
SMALL = (
    "I prefer small pull requests with one change each",
    "Prefers pull requests that are small, one change in each",
    "Likes small pull requests: one change per request",
)
REVIEW = (
    "喜欢提交粒度小的代码评审，每次只改一件事",
    "偏好小粒度的代码评审，一次只改一件事",
    "代码评审喜欢小粒度，每次只改一件事",
)


def experienced(world: World, *texts: str, agent: str = "pilot") -> list[Memory]:
    return [world.add(text, scope=Scope.AGENT, agent=agent, category=Category.EXPERIENCE) for text in texts]


def preferred(world: World, *texts: str) -> list[Memory]:
    return [world.add(text, category=Category.PREFERENCE) for text in texts]


def suggested(world: World, status: Decision | None = None) -> list[Suggestion]:
    world.restart()
    return world.now.suggestions.page(world.owner, status, 50, None)[0]


def decide(world: World, status: Decision) -> Suggestion:
    (one,) = suggested(world)
    world.clock.advance(1)
    return world.now.suggestions.decide(world.owner, one.id, status, None)
