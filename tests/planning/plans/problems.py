"""Small problems of all kinds at random, and everything that can be done in them."""

from collections.abc import Iterator, Sequence
from itertools import permutations, product
from random import Random

from misstep.core.case import CASE_VERSION, Action, Case, World
from misstep.core.constraint import (
    Adjacent,
    Before,
    Choice,
    Condition,
    Constraint,
    Handover,
    Limit,
    Place,
    Repeat,
    Spend,
    StandIn,
    Window,
)
from misstep.planning.world.simulator import Deed, History
from tests.planning.judging.semantics import due, holds

DAY = (540, 840)


def random_case(seed: int, size: int = 4) -> Case:
    """Anything goes, as long as it could be admitted: some of them can't be solved."""
    random = Random(seed)
    ids = [f"a{number}" for number in range(1, size + 1)]
    free = random.sample(ids, size)
    constraints: list[Constraint] = []
    findings: dict[str, bool] = {}
    broken: tuple[str, ...] = ()
    if random.random() < 0.3:
        constraints.append(Choice((free.pop(), free.pop())))
    elif random.random() < 0.4:
        asks, then = free.pop(), free.pop()
        otherwise = free.pop() if random.random() < 0.4 else ""
        constraints.append(Condition(asks, "a problem", then, otherwise))
        findings[asks] = random.random() < 0.5
        if random.random() < 0.3:
            constraints.append(Repeat(then, 2))
    elif random.random() < 0.4:
        action, by = free.pop(), free.pop()
        constraints.append(StandIn(action, by))
        broken = (action,) if random.random() < 0.6 else ()
    optional = set(ids) - set(free)
    if random.random() < 0.3 and free:
        constraints.append(Repeat(free.pop(), 2))
    if random.random() < 0.4 and len(free) > 1:
        constraints.append(Adjacent(*random.sample(free, 2)))
    firm = sorted(set(ids) - optional)
    if random.random() < 0.3:
        constraints.append(Place(random.choice(firm), random.choice(["first", "last"])))  # type: ignore[arg-type]
    if random.random() < 0.3:
        constraints.append(Limit(random.choice(ids), random.randrange(1, size)))
    constraints += [Before(*random.sample(ids, 2)) for _ in range(random.randrange(3))]
    if random.random() < 0.3:
        voice, first, then = random.sample(ids, 3)
        constraints.append(Before(first, then, announced=voice))
    if random.random() < 0.2 and len(firm) > 1:
        constraints.append(Handover(*random.sample(firm, 2), "key"))
    costs = {}
    if random.random() < 0.3:
        costs = {action: random.randrange(1, 6) for action in ids}
        constraints.append(Spend(random.randrange(4, 14)))
    world = World(findings=findings, broken=broken, costs=costs)
    if random.random() < 0.5:
        durations = {action: 15 * random.randrange(1, 8) for action in ids}
        world = World(DAY, durations, 1, {}, findings, costs, broken=broken)
        for _ in range(random.randrange(1, 3)):
            edge, bound = random.choice([("start", "after"), ("start", "before"), ("end", "before")])
            constraints.append(Window(random.choice(ids), edge, bound, 540 + 30 * random.randrange(1, 10)))  # type: ignore[arg-type]
    random.shuffle(constraints)
    actions = tuple(Action(action, f"task {action}", action) for action in ids)
    return Case(CASE_VERSION, "x", 0, "t", "q", actions, tuple(constraints), world=world)


def doable(case: Case) -> Iterator[tuple[str, ...]]:
    """Every choice of actions with every order of it, as often as each is due, by the tools that do it."""
    choices = [c for c in case.constraints if isinstance(c, Choice)]
    conditions = [c for c in case.constraints if isinstance(c, Condition)]
    stand_ins = {c.by: c.action for c in case.constraints if isinstance(c, StandIn)}
    times = {c.action: c.times for c in case.constraints if isinstance(c, Repeat)}
    picks = [[{*choice.options} - {option} for option in choice.options] for choice in choices]
    branches = [[{c.then}, {c.otherwise}] for c in conditions]
    for left_out in product(*picks, *branches):
        gone = set().union(*left_out)
        roles = [
            action.id
            for action in case.actions
            if action.id not in gone and action.id not in stand_ins
            for _ in range(times.get(action.id, 1))
        ]
        if any(role in case.world.broken and role not in stand_ins.values() for role in roles):
            roles = [role for role in roles if role not in case.world.broken]
        yield from sorted(set(permutations(roles)))


def is_correct(case: Case, roles: Sequence[str]) -> bool:
    """By the reference: whether the roles in this order, at the best times, keep to everything."""
    history = perform(case, roles)
    if history is None:
        return False
    wanted = due(case, history)
    done = {action.id: 0 for action in case.actions}
    for deed in history.deeds:
        done[deed.action] += 1
    chosen = all(any(done[option] for option in c.options) for c in case.constraints if isinstance(c, Choice))
    given = all(
        any(earlier.action == c.giver for earlier in history.deeds[:place])
        for place, deed in enumerate(history.deeds)
        for c in case.constraints
        if isinstance(c, Handover) and c.taker == deed.action
    )
    enough = all(done[action] >= number for action, number in wanted.items())
    return chosen and given and enough and all(holds(c, history, case) for c in case.constraints)


def perform(case: Case, roles: Sequence[str]) -> History | None:
    """The deeds, each as early as its windows allow; None if the day is too short."""
    stand_ins = {c.action: c.by for c in case.constraints if isinstance(c, StandIn)}
    clock = case.world.day[0] if case.world.day else 0
    deeds = list[Deed]()
    for step, role in enumerate(roles, 1):
        by = stand_ins.get(role, "") if role in case.world.broken else ""
        minutes = case.world.durations.get(by or role, 0)
        for c in case.constraints:
            if isinstance(c, Window) and c.action == role and c.bound == "after":
                clock = max(clock, c.time - (minutes if c.edge == "end" else 0))
        deeds.append(Deed(role, step, clock, clock + minutes, by))
        clock += minutes
    if case.world.day and clock > case.world.day[1]:
        return None
    return History(tuple(deeds), calls_of={deed.action: 1 for deed in deeds})
