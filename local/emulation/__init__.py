"""What moto lacks to stand in for AWS under load and under test: atomicity, speed, limits, refusals and metering.

Nothing changes at import. `install()` replaces parts of moto, each with its reason, and returns what undoes it.
"""

from collections.abc import Callable

from local.emulation import dynamodb, kms, s3, sqs
from local.emulation.patches import Patches

Clock = Callable[[], float]


def install(clock: Clock) -> Patches:
    """Make moto strict, atomic and quick for this process.

    `clock` returns Unix time in seconds; queues and transaction tokens live by it. Call `undo()` on the result.
    """
    patches = Patches()
    dynamodb.install(patches, clock)
    s3.install(patches)
    kms.install(patches)
    sqs.install(patches, clock)
    return patches
