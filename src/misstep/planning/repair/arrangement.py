"""Plans for constraints that need no world, found without search however many tools there are.

Neighbours are tied into blocks, and blocks are placed from the back: of those that are left, one that may
come last does. That never leads astray, for it can be moved to the end of any plan: nothing waits for it, and
all the others only come sooner, which no order and no bound on how much comes before something forbids.
"""

from collections.abc import Sequence

import msgspec

from misstep.core.case import World
from misstep.core.constraint import Constraint
from misstep.planning.plans.demands import Demands, selections
from misstep.planning.plans.order import bits

_NO_WORLD = World()


class _Block(msgspec.Struct, frozen=True):
    """Units that follow one another; `latest` is how much may come before the first, `after` who must."""

    units: tuple[int, ...]
    latest: int
    after: int


def find_order(tools: Sequence[str], constraints: Sequence[Constraint]) -> tuple[str, ...] | None:
    """Tools in an order that meets all constraints, near that in which they are given; None if there is none.

    The constraints have to make sense, each for itself.
    """
    for demands in selections(tools, constraints, _NO_WORLD):
        units = _arrange(demands)
        if units is not None:
            return tuple([demands.tools[unit] for unit in units])
    return None


def _arrange(demands: Demands) -> list[int] | None:
    blocks = _blocks(demands)
    if blocks is None:
        return None
    placed = list[int]()
    left, room = set(range(len(blocks))), demands.size
    while left:
        fit = [
            number
            for number in sorted(left, key=lambda number: blocks[number].units[-1], reverse=True)
            if not any([blocks[other].after >> number & 1 for other in left])
            and room - len(blocks[number].units) <= blocks[number].latest
        ]
        if not fit:
            return None
        left.remove(fit[0])
        placed[:0] = blocks[fit[0]].units
        room -= len(blocks[fit[0]].units)
    return placed


def _blocks(demands: Demands) -> list[_Block] | None:
    """The blocks; None where neighbours contradict each other or what has to come before them."""
    pairs = {(one, other) for one, other in demands.next.items()}
    if pairs != {(one, other) for other, one in demands.previous.items()}:
        return None  # somebody has two neighbours on one side
    chains = [_chain(demands, unit) for unit in range(demands.size) if unit not in demands.previous]
    home = {unit: number for number, chain in enumerate(chains) for unit in chain}
    if len(home) < demands.size:
        return None  # neighbours in a ring
    blocks = list[_Block]()
    for number, chain in enumerate(chains):
        after = 0
        for place, unit in enumerate(chain):
            for earlier in bits(demands.before[unit]):
                if home[earlier] != number:
                    after |= 1 << home[earlier]
                elif chain.index(earlier) > place:
                    return None
        bounds = [most - chain.index(unit) for unit, most in demands.limits if unit in chain]
        blocks.append(_Block(chain, min([demands.size, *bounds]), after))
    return blocks


def _chain(demands: Demands, unit: int) -> tuple[int, ...]:
    chain = [unit]
    while chain[-1] in demands.next:
        chain.append(demands.next[chain[-1]])
    return tuple(chain)
