"""Keeps a world to what its case is still about."""

from collections.abc import Sequence

import msgspec

from misstep.core.case import World
from misstep.core.constraint import Before, Condition, Constraint, Handover, Spend, StandIn, Window
from misstep.planning.synthesis.composition import needed_values

_PLAIN = World()


def fitting_world(world: World, constraints: Sequence[Constraint]) -> World:
    """The world without anything that no constraint asks for; that of a synthesised case is as it was.

    Tools that fail at first are left as they are: no constraint speaks of them.
    """
    if world == _PLAIN:
        return world
    handed = {(c.giver, c.parameter) for c in constraints if isinstance(c, Handover)}
    asked = {c.asks for c in constraints if isinstance(c, Condition)}
    replaced = {c.action for c in constraints if isinstance(c, StandIn)}
    voices = {c.announced for c in constraints if isinstance(c, Before)}
    is_timed = any([isinstance(c, Window) for c in constraints])
    given = {
        giver: {name: series for name, series in values.items() if (giver, name) in handed}
        for giver, values in world.values.items()
    }
    changed = msgspec.structs.replace(
        world,
        day=world.day if is_timed else None,
        durations=world.durations if is_timed else {},
        attempts=world.attempts if is_timed else 1,
        values={giver: values for giver, values in given.items() if values},
        findings={asks: found for asks, found in world.findings.items() if asks in asked},
        costs=world.costs if any([isinstance(c, Spend) for c in constraints]) else {},
        broken=tuple([action for action in world.broken if action in replaced]),
        announcements={voice: said for voice, said in world.announcements.items() if voice in voices},
    )
    return msgspec.structs.replace(changed, values=needed_values(changed, constraints))
