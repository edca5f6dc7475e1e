"""Small cases of all kinds drawn at random, most of them with no correct plan, and calls of all sorts for them.

They owe nothing to the synthesis: what nobody would write is drawn as well, as long as it has a meaning.
"""

from random import Random
from typing import Any

from misstep.core.case import CASE_VERSION, Action, Case, World
from misstep.core.constraint import (
    Adjacent,
    Before,
    Choice,
    Condition,
    Constraint,
    Given,
    Handover,
    Limit,
    Place,
    Repeat,
    Spend,
    StandIn,
    Window,
)
from misstep.core.outcome import Call, Transcript
from misstep.planning.world.simulator import Simulator

OWN_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "note": {"type": "string"}},
    "required": ["city"],
}
OWN_ARGUMENTS = {"city": "Paris", "days": 3}

WRONG: dict[str, list[Any]] = {
    "start_time": ["07:00", "8:00", "9:15", "23:59", "24:00", "10.30", "", "٠٩:٣٠", "12:60"],
    "code": ["K1", "K2", "K3", "K1 ", None, []],
    "count": [1, 2, 3, 1.0, True, "1"],
    "city": ["Rome", "paris", None],
    "days": [4, 3.0, 3.5, True],
}


class _Draft:
    """A case in the making: who plays which part."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.ids = [f"a{number}" for number in range(1, random.randint(3, 6) + 1)]
        self.free = random.sample(self.ids, len(self.ids))  # neither option nor branch nor stand-in so far
        self.constraints = list[Constraint]()
        self.world: dict[str, Any] = {}
        self.own = ""

    def maybe(self, chance: float) -> bool:
        return self.random.random() < chance

    def two(self) -> list[str]:
        return self.random.sample(self.ids, 2)

    def case(self) -> Case:
        actions = [
            Action(i, f"task {i[1:]}", f"tool_{i[1:]}", parameters=OWN_SCHEMA if i == self.own else None)
            for i in self.ids
        ]
        self.random.shuffle(self.constraints)
        return Case(
            CASE_VERSION,
            "x",
            0,
            "t",
            "q",
            tuple(actions),
            tuple(self.constraints),
            sentences=("It is so.",),
            world=World(**self.world),
            distractors=tuple(Action(f"d{n}", f"extra {n}", f"extra_{n}") for n in range(self.maybe(0.2))),
        )


def random_case(random: Random) -> Case:
    draft = _Draft(random)
    _add_parts(draft)
    _add_order(draft)
    if draft.maybe(0.4):
        _add_time(draft)
    if draft.maybe(0.4):
        _add_values(draft)
    _add_numbers(draft)
    return draft.case()


def _add_parts(draft: _Draft) -> None:
    """Choices, conditions, stand-ins: an action plays in at most one of them."""
    broken, findings = list[str](), {}
    if draft.maybe(0.3) and len(draft.free) >= 2:
        by = draft.free.pop()
        action = draft.random.choice(draft.free)
        draft.constraints.append(StandIn(action, by))
        broken += [action] if draft.maybe(0.7) else []
    if draft.maybe(0.3) and len(draft.free) >= 3:
        options = tuple(draft.free.pop() for _ in range(draft.random.choice([2, 2, 3])))
        draft.constraints.append(Choice(options, 0))
    if draft.maybe(0.3) and len(draft.free) >= 2:
        branches = [draft.free.pop() for _ in range(draft.random.randint(1, min(2, len(draft.free) - 1)))]
        asks = draft.random.choice(draft.free)
        draft.constraints.append(Condition(asks, "a problem", *branches))
        findings[asks] = draft.maybe(0.5)
    if draft.maybe(0.1):
        broken.append(draft.random.choice(draft.ids))
    draft.world.update(broken=tuple(dict.fromkeys(broken)), findings=findings)


def _add_order(draft: _Draft) -> None:
    for _ in range(draft.random.randint(0, 3)):
        draft.constraints.append(Before(*draft.two(), 0))
    if draft.maybe(0.2):
        announced, first, then = draft.random.sample(draft.ids, 3)
        draft.constraints.append(Before(first, then, announced=announced))
        draft.world["announcements"] = {announced: "It is to be so."}
    if draft.maybe(0.25):
        draft.constraints.append(Adjacent(*draft.two()))
    if draft.maybe(0.25):
        draft.constraints.append(
            Place(draft.random.choice(draft.ids), draft.random.choice(["first", "last"]))
        )


def _add_time(draft: _Draft) -> None:
    random = draft.random
    draft.world.update(
        day=(480, random.choice([600, 720, 1080])),
        durations={i: random.choice([15, 30, 60, 90]) for i in draft.ids},
    )
    for _ in range(random.randint(0, 3)):
        edge, bound = random.choice(
            [("start", "after"), ("start", "before"), ("end", "after"), ("end", "before")]
        )
        draft.constraints.append(
            Window(random.choice(draft.ids), edge, bound, random.randrange(480, 700, 15), 0)
        )


def _add_values(draft: _Draft) -> None:
    random = draft.random
    replacing = [c.by for c in draft.constraints if isinstance(c, StandIn)]
    values: dict[str, dict[str, tuple[str | int, ...]]] = {}
    taken = set[tuple[str, str]]()
    for _ in range(random.randint(1, 3)):
        giver, taker = draft.two()
        parameter = random.choice(["code", "count"])
        if (taker, parameter) in taken or giver in replacing or taker in replacing:
            continue
        taken.add((taker, parameter))
        draft.constraints.append(Handover(giver, taker, parameter, 0))
        series = random.sample(["K1", "K2", "K3"] if parameter == "code" else [1, 2, 3], random.randint(1, 3))
        values.setdefault(giver, {}).setdefault(parameter, tuple(series))
    draft.world["values"] = values


def _add_numbers(draft: _Draft) -> None:
    random = draft.random
    if draft.free and draft.maybe(0.3):
        draft.constraints.append(Repeat(random.choice(draft.free), random.choice([2, 2, 3])))
    if draft.maybe(0.25):
        draft.constraints.append(Limit(random.choice(draft.ids), random.randint(1, 3)))
    if draft.maybe(0.25):
        draft.world["costs"] = {i: random.choice([10, 20, 30]) for i in draft.ids if draft.maybe(0.8)}
        draft.constraints.append(Spend(random.choice([40, 60, 90])))
    if draft.maybe(0.25):
        draft.world.update(failures={random.choice(draft.ids): random.randint(1, 2)}, retries=3)
    if draft.maybe(0.3):
        draft.world["attempts"] = random.randint(2, 3)
    if draft.maybe(0.3) and not draft.world.get("day") and not draft.world.get("values"):
        draft.own = random.choice(draft.ids)
        draft.constraints.append(Given(draft.own, OWN_ARGUMENTS))


def random_transcript(case: Case, random: Random) -> Transcript:
    """Calls that are mostly right: everything once, in any order, with a fault here and there."""
    stage = Simulator(case)  # only to know what an agent would have been told
    calls = list[Call]()
    faults = random.choice([0.0, 0.0, 0.02, 0.15])
    tells_turns = random.random() < 0.8
    newest: dict[str, list[dict[str, Any]]] = {}
    clock = case.world.day[0] if case.world.day else 0
    for tool in _tools(case, random, faults):
        clock += random.choice([0, 0, 0, 15, 60])
        arguments = _arguments(case, tool, newest, clock)
        if random.random() < (0.2 if "city" in arguments else faults):
            arguments = _spoilt(arguments, random)
        ran = -1 if random.random() < faults / 3 else 0
        turn = len(calls) // 2 if tells_turns else None
        calls.append(Call(tool, arguments, "", turn, ran=ran))
        if ran == 0:
            scene = stage.play(tool, arguments)
            if scene.deed:
                clock = scene.deed.end
                newest.setdefault(scene.deed.action, []).append(scene.values)
            elif scene.kind == "over":
                clock = case.world.day[0] if case.world.day else 0
    return Transcript(case.id, tuple(calls))


def _tools(case: Case, random: Random, faults: float) -> list[str]:
    """A plan, as tools, often tried twice where that is allowed."""
    tools = list[str]()
    for attempt in range(random.randint(1, case.world.attempts)):
        tools += ["start_over"] if attempt else []
        tools += _one_attempt(case, random, faults)
    if random.random() < faults:
        tools.insert(random.randint(0, len(tools)), "start_over")
    return tools


def _one_attempt(case: Case, random: Random, faults: float) -> list[str]:
    names = {action.id: action.tool for action in case.actions}
    times = {c.action: c.times for c in case.constraints if isinstance(c, Repeat)}
    plan = list[str]()
    for action in names:
        once_more = action in times and random.random() < 0.15
        plan += [action] * (times.get(action, 1) + case.world.failures.get(action, 0) + once_more)
    random.shuffle(plan)
    plan = _keep_some(plan, case, random)
    for constraint in case.constraints:
        match constraint:
            case Choice(options):
                kept = random.choice(options)
                plan = [i for i in plan if i not in options or i == kept or random.random() < 0.1]
            case Condition(asks, _, then, otherwise):
                dropped = otherwise if case.world.findings[asks] else then
                plan = [i for i in plan if i != dropped or random.random() < 0.1]
            case StandIn(action, by):
                if action not in case.world.broken:
                    plan = [i for i in plan if i != by or random.random() < 0.1]
    plan = [i for i in plan if random.random() > faults / 2]
    tools = [names[i] for i in plan]
    strangers = ["nonsense", "ask_price", *names.values(), *(action.tool for action in case.distractors)]
    while random.random() < faults + 0.1 * bool(case.distractors):
        tools.insert(random.randint(0, len(tools)), random.choice(strangers))
    return tools


def _keep_some(plan: list[str], case: Case, random: Random) -> list[str]:
    """Sort some of what is said about the order into the plan, so that not everything is broken."""
    for constraint in case.constraints:
        if random.random() < 0.8:
            match constraint:
                case Before(first, then) | Handover(first, then) | Condition(first, _, then):
                    plan = _moved(plan, first, then)
                case StandIn(action, by) if action in plan and by in plan:
                    plan = _moved(plan, action, by)
                case Place(action, place):
                    rest = [i for i in plan if i != action]
                    mine = [i for i in plan if i == action]
                    plan = mine + rest if place == "first" else rest + mine
                case Adjacent(first, then) if first in plan and then in plan:
                    plan.remove(then)
                    plan.insert(plan.index(first) + 1, then)
                case _:
                    pass
    return plan


def _moved(plan: list[str], first: str, then: str) -> list[str]:
    """The plan with everything of `then` behind the last of `first`."""
    if first not in plan:
        return plan
    last = len(plan) - plan[::-1].index(first)
    late = [i for i in plan[:last] if i == then]
    return [i for i in plan[:last] if i != then] + late + plan[last:]


def _arguments(case: Case, tool: str, newest: dict[str, list[dict[str, Any]]], clock: int) -> dict[str, Any]:
    if tool == "ask_price":
        return {"task": case.actions[0].tool}
    action = next((action for action in (*case.actions, *case.distractors) if action.tool == tool), None)
    if action is None:
        return {}
    if action.parameters is not None:
        return dict(OWN_ARGUMENTS)
    replaced = [c.action for c in case.constraints if isinstance(c, StandIn) and c.by == action.id]
    taker = replaced[0] if replaced else action.id
    arguments: dict[str, Any] = {"start_time": f"{clock // 60:02}:{clock % 60:02}"} if case.world.day else {}
    for constraint in case.constraints:
        if isinstance(constraint, Handover) and constraint.taker == taker:
            returned = newest.get(constraint.giver)
            series = case.world.values[constraint.giver][constraint.parameter]
            arguments[constraint.parameter] = returned[-1][constraint.parameter] if returned else series[0]
    return arguments


def _spoilt(arguments: dict[str, Any], random: Random) -> Any:
    if not arguments or random.random() < 0.1:
        return random.choice([None, [], "{}", {"x": 1}, {"": {}}, 7, {}])
    name = random.choice(list(arguments))
    spoilt = dict(arguments)
    if random.random() < 0.1:
        del spoilt[name]
    else:
        spoilt[name] = random.choice(WRONG.get(name, WRONG["code"] + WRONG["count"]))
    return spoilt
