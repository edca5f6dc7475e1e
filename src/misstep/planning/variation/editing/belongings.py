"""What the world holds for the actions that are left, under their new ids."""

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from misstep.core.case import World

Held = TypeVar("Held")


def belongings(world: World, ids: Mapping[str, str]) -> World:
    """The world without what it holds for others; `ids` are the new ids of those that are left."""
    failures = _renamed(world.failures, ids)
    return msgspec.structs.replace(
        world,
        durations=_renamed(world.durations, ids),
        values=_renamed(world.values, ids),
        findings=_renamed(world.findings, ids),
        costs=_renamed(world.costs, ids),
        failures=failures,
        retries=world.retries if failures else 0,
        broken=tuple([ids[action] for action in world.broken if action in ids]),
        announcements=_renamed(world.announcements, ids),
    )


def _renamed(held: Mapping[str, Held], ids: Mapping[str, str]) -> dict[str, Held]:
    return {ids[action]: something for action, something in held.items() if action in ids}
