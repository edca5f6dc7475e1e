"""What two readings of a request have in common, by what they mean rather than by how they say it."""

from collections.abc import Iterator

import msgspec

from misstep.core.constraint import Adjacent, Before, Choice, Constraint, Limit, Place, Repeat
from misstep.planning.admission.constraints import actions_of
from misstep.planning.repair.reading import Need, Reading, Rule


class Comparison(msgspec.Struct, frozen=True):
    """What both readings say, and for each of them what only that one says.

    A rule that one says and the other implies is said by both.
    """

    needs: tuple[Need, ...]
    rules: tuple[Rule, ...]
    own_needs: tuple[tuple[Need, ...], tuple[Need, ...]]
    own_rules: tuple[tuple[Rule, ...], tuple[Rule, ...]]

    @property
    def agrees(self) -> bool:
        return not any(self.own_needs) and not any(self.own_rules)


def compare(one: Reading, other: Reading) -> Comparison:
    shared: dict[Constraint, Rule] = {}
    for mine, theirs in ((one, other), (other, one)):
        for rule in mine.rules:
            if implies(theirs, rule.constraint):
                shared.setdefault(rule.constraint, rule)
    return Comparison(
        tuple([need for need in one.needs if need.tool in other.tools]),
        tuple(shared.values()),
        (_needs_of(one, other), _needs_of(other, one)),
        (_rules_of(one, other), _rules_of(other, one)),
    )


def implies(reading: Reading, constraint: Constraint) -> bool:
    """Whether every plan for the reading meets the constraint, as far as that is told by order and by words.

    Order follows from order, from neighbours and from first and last places; a first or last place follows
    from order; a bound follows from a tighter one. All else is meant where it is said.
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


def _needs_of(mine: Reading, theirs: Reading) -> tuple[Need, ...]:
    return tuple([need for need in mine.needs if need.tool not in theirs.tools])


def _rules_of(mine: Reading, theirs: Reading) -> tuple[Rule, ...]:
    return tuple([rule for rule in mine.rules if not implies(theirs, rule.constraint)])


def _later(reading: Reading, tool: str) -> set[str]:
    """All that has to come after a tool. What may be left out hands nothing on."""
    pairs, optional = [*_pairs(reading)], _optional(reading)
    found, fresh = set[str](), [tool]
    while fresh:
        earlier = fresh.pop()
        new = {then for first, then in pairs if first == earlier} - found
        found |= new
        fresh += new - optional
    return found


def _pairs(reading: Reading) -> Iterator[tuple[str, str]]:
    """What has to come before what, all times of the one before all of the other."""
    for constraint in reading.constraints:
        match constraint:
            case Before(first, then) | Adjacent(first, then):
                yield first, then
            case Place(tool, "first") if _is_due_once(reading, tool):
                yield from [(tool, each) for each in reading.tools if each != tool]
            case Place(tool, "last"):
                yield from [(each, tool) for each in reading.tools if each != tool]
            case _:
                pass


def _is_due_once(reading: Reading, tool: str) -> bool:
    repeated = [c.action for c in reading.constraints if isinstance(c, Repeat)]
    return tool not in repeated and tool not in _optional(reading)


def _optional(reading: Reading) -> set[str]:
    return {option for c in reading.constraints if isinstance(c, Choice) for option in c.options}
