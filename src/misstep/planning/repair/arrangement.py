"""Plans, conflicts and comparisons for constraints extracted from a request, without a simulated world.

Plans are found without search, for any number of tools. Required neighbours are merged into blocks, and
blocks are placed from the back: one of the remaining blocks that may come last is placed last. That is always
safe, because such a block can be moved to the end of any plan: nothing waits for it, and all others only come
sooner, which violates no order and no limit on what comes before something.
"""

from collections.abc import Iterator, Sequence

import msgspec

from misstep.core.case import World
from misstep.core.constraint import Adjacent, Before, Choice, Constraint, Limit, Place, Repeat
from misstep.errors import InternalError, MissingExtra
from misstep.planning.admission.constraints import actions_of
from misstep.planning.judging import solver
from misstep.planning.plans.demands import Demands, selections
from misstep.planning.plans.order import bits
from misstep.planning.repair.reading import Need, ReadingRule, RequestReading, problem

_NO_WORLD = World()


class _Block(msgspec.Struct, frozen=True):
    """Consecutive units; `latest` is how many may come before the first, `after` the blocks that must."""

    units: tuple[int, ...]
    latest: int
    after: int


def find_order(tools: Sequence[str], constraints: Sequence[Constraint]) -> tuple[str, ...] | None:
    """Tools in an order that meets all constraints, near the given order; None if there is none.

    Each constraint has to make sense by itself.
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
    """The blocks; None if neighbours contradict each other or what has to come before them."""
    if {*demands.next.items()} != {(one, other) for other, one in demands.previous.items()}:
        return None  # a unit has two neighbours on one side
    chains = [[unit] for unit in range(demands.size) if unit not in demands.previous]
    for chain in chains:
        while chain[-1] in demands.next:
            chain.append(demands.next[chain[-1]])
    home = {unit: number for number, chain in enumerate(chains) for unit in chain}
    if len(home) < demands.size:
        return None  # neighbours form a ring
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
        blocks.append(_Block(tuple(chain), min([demands.size, *bounds]), after))
    return blocks


def find_conflict(tools: Sequence[str], rules: Sequence[ReadingRule]) -> tuple[ReadingRule, ...]:
    """A minimal set of rules that can't be met together; empty if all can.

    Choices only add possibilities, so they never cause a conflict; those about tools of the conflict are
    included.
    """
    choices = [rule for rule in rules if isinstance(rule.constraint, Choice)]
    needed = [rule for rule in rules if rule not in choices]
    if _fit(tools, [*choices, *needed]):
        return ()
    for rule in tuple(needed):
        others = [each for each in needed if each is not rule]
        if not _fit(tools, [*choices, *others]):
            needed = others
    spoken_of = {tool for rule in needed for tool in actions_of(rule.constraint)}
    return (*needed, *[rule for rule in choices if spoken_of & {*actions_of(rule.constraint)}])


def confirm(tools: Sequence[str], conflict: Sequence[ReadingRule]) -> bool:
    """Whether Z3 finds no plan either; False if it is not installed or gives up, an error if it finds one."""
    try:
        answer = solver.satisfiable(problem(tools, [rule.constraint for rule in conflict]))
    except MissingExtra:
        return False
    if answer == "yes":
        raise InternalError(
            "Z3 finds a plan where the fast path finds none",
            "this is a bug in misstep: please report it with the request and its readings",
        )
    return answer == "no"


def _fit(tools: Sequence[str], rules: Sequence[ReadingRule]) -> bool:
    return find_order(tools, [rule.constraint for rule in rules]) is not None


class ReadingComparison(msgspec.Struct, frozen=True):
    """What both readings say, if only by implication, and for each of them what only that one says."""

    needs: tuple[Need, ...]
    rules: tuple[ReadingRule, ...]
    own_needs: tuple[tuple[Need, ...], tuple[Need, ...]]
    own_rules: tuple[tuple[ReadingRule, ...], tuple[ReadingRule, ...]]

    @property
    def agrees(self) -> bool:
        return not any(self.own_needs) and not any(self.own_rules)


def compare(one: RequestReading, other: RequestReading) -> ReadingComparison:
    shared: dict[Constraint, ReadingRule] = {}
    for mine, theirs in ((one, other), (other, one)):
        for rule in mine.rules:
            if implies(theirs, rule.constraint):
                shared.setdefault(rule.constraint, rule)
    return ReadingComparison(
        tuple([need for need in one.needs if need.tool in other.tools]),
        tuple(shared.values()),
        (_needs_of(one, other), _needs_of(other, one)),
        (_rules_of(one, other), _rules_of(other, one)),
    )


def implies(reading: RequestReading, constraint: Constraint) -> bool:
    """Whether every plan for the reading meets the constraint, as far as simple rules show.

    Order follows from order, from neighbours and from first and last places; a first or last place follows
    from order; a limit follows from a tighter one. Everything else has to be stated.
    """
    if not {*actions_of(constraint)} <= {*reading.tools}:
        return False
    if constraint in reading.constraints:
        return True
    match constraint:
        case Before(first, then):
            return then in _later(reading, first)
        case Place(tool, "first"):
            return _is_due_once(reading, tool) and _later(reading, tool) >= {*reading.tools} - {tool}
        case Place(tool, "last"):
            others = [each for each in reading.tools if each != tool]
            return all([tool in _later(reading, each) for each in others])
        case Limit(tool, most):
            return any(
                [isinstance(c, Limit) and c.action == tool and c.most <= most for c in reading.constraints]
            )
        case _:
            return False


def _needs_of(mine: RequestReading, theirs: RequestReading) -> tuple[Need, ...]:
    return tuple([need for need in mine.needs if need.tool not in theirs.tools])


def _rules_of(mine: RequestReading, theirs: RequestReading) -> tuple[ReadingRule, ...]:
    return tuple([rule for rule in mine.rules if not implies(theirs, rule.constraint)])


def _later(reading: RequestReading, tool: str) -> set[str]:
    """All tools that have to come after a tool. Optional tools don't pass the relation on."""
    pairs, optional = [*_pairs(reading)], _optional(reading)
    found, fresh = set[str](), [tool]
    while fresh:
        earlier = fresh.pop()
        new = {then for first, then in pairs if first == earlier} - found
        found |= new
        fresh += new - optional
    return found


def _pairs(reading: RequestReading) -> Iterator[tuple[str, str]]:
    """Pairs of tools: all executions of the first come before all of the second."""
    for constraint in reading.constraints:
        match constraint:
            case Before(first, then) | Adjacent(first, then):
                yield first, then
            case Place(tool, "first") if _is_due_once(reading, tool):
                yield from [(tool, each) for each in reading.tools if each != tool]
            case Place(tool, "last"):
                yield from [(each, tool) for each in reading.tools if each != tool]


def _is_due_once(reading: RequestReading, tool: str) -> bool:
    repeated = [c.action for c in reading.constraints if isinstance(c, Repeat)]
    return tool not in repeated and tool not in _optional(reading)


def _optional(reading: RequestReading) -> set[str]:
    return {option for c in reading.constraints if isinstance(c, Choice) for option in c.options}
