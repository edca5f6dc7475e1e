"""What two agents that don't plan reach on a case: computed exactly, without running anything.

*Text order* carries out the actions in the order in which the text first names them, and of every pair of
alternatives or branches the one that is named first. Like the chance level, it gets everything else right:
how often each action is due (its repetitions in a row), the values that are handed over, the best start
times, tools that have to be tried again, and stand-ins.

*Ignores the family* takes the request for one about plain order. It heeds "before" and "after", otherwise
keeps to the text, takes what is named first, carries out each action once and starts it when the one before
has ended. It hands over no values, tries no tool again, uses no stand-in and hears no announcement. In a
case about nothing but order it ignores that too, so it follows the text.
"""

from collections.abc import Sequence

from misstep.core.case import Case, World, families_of, plain_order
from misstep.core.constraint import Before, Choice, Condition, Constraint, Handover, Repeat, StandIn
from misstep.core.difficulty import Baselines
from misstep.planning.plans.demands import Demands, selections
from misstep.planning.plans.order import Order, first_available
from misstep.planning.plans.search import steps


def baselines(case: Case) -> Baselines:
    """Whether each of the two agents passes a case."""
    named = in_text_order(case)
    plain = plain_order(case)
    if plain is not None:
        places = {action: place for place, action in enumerate(named)}
        passes = float(all([places[said.first] < places[said.then] for said in plain]))
        return Baselines(passes, passes)
    follows = follows_text(named, case.constraints, case.world)
    return Baselines(float(follows), float(_ignores_family(case, named)))


def in_text_order(case: Case) -> list[str]:
    """All actions in the order in which the text first names them, those that it doesn't name last."""
    text = " ".join(case.sentences or (case.query,)).lower()
    places = {action.id: text.find(f"the {action.name.lower()}") for action in case.actions}
    return sorted(places, key=lambda action: places[action] if places[action] >= 0 else len(text))


def follows_text(named: Sequence[str], constraints: Sequence[Constraint], world: World) -> bool:
    """Whether the order in which actions are named is a correct plan."""
    demands = _first_named(named, constraints, world)
    return demands is not None and _is_right(demands, waits=True)


def _ignores_family(case: Case, named: Sequence[str]) -> bool:
    world = case.world
    more = [said for said in case.constraints if isinstance(said, Repeat | Handover | StandIn)]
    if world.failures or any(not isinstance(said, StandIn) or said.action in world.broken for said in more):
        return False
    order = Order(len(named))
    numbers = {action: number for number, action in enumerate(named)}
    for said in case.constraints:
        if isinstance(said, Before) and not said.announced and families_of(case) != ["order"]:
            order.add(numbers[said.first], numbers[said.then])
    arranged = [named[number] for number in first_available(order.before)]
    demands = _first_named(arranged, case.constraints, world)
    return demands is not None and _is_right(demands, waits=False)


def _first_named(named: Sequence[str], constraints: Sequence[Constraint], world: World) -> Demands | None:
    """What is demanded of somebody who takes what is named first; None where that is wrong.

    Units are numbered in the order of the names.
    """
    picked = set[str]()
    for said in constraints:
        if isinstance(said, Choice):
            picked.add(min(said.options, key=named.index))
        elif isinstance(said, Condition):
            picked.add(min([branch for branch in (said.then, said.otherwise) if branch], key=named.index))
    ways = selections(named, constraints, world)
    return next((demands for demands in ways if picked <= {*demands.roles}), None)


def _is_right(demands: Demands, waits: bool) -> bool:
    """Whether the units can be carried out as they are numbered, waiting for the earliest start or not."""
    timing = demands.timing
    done, forced, clock = 0, -1, timing.begin if timing else 0
    for unit in range(demands.size):
        end = dict(steps(demands, done, forced, clock)).get(unit)
        if end is None or (timing and not waits and clock < timing.earliest[unit]):
            return False
        done, forced, clock = done | 1 << unit, demands.next.get(unit, -1), end
    return True
