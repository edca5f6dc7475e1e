"""Describes in words what went wrong in an attempt."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, assert_never

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
from misstep.core.outcome import storable
from misstep.planning.judging.breaches import View
from misstep.planning.language.requests import clock, euros, how_often, listed
from misstep.planning.plans.search import least_cost
from misstep.planning.world.simulator import Deed, ParameterSlip, minutes_of, reported

LONGEST_SHOWN = 80  # characters of what an agent has said


class Reasons:
    """Explanations for one attempt at a case; they quote the sentence that states the constraint, if any."""

    def __init__(self, view: View) -> None:
        self._view, self._case = view, view.case
        self._names = {action.id: f"the {action.name}" for action in view.case.actions}

    def breach(self, constraint: Constraint, step: int) -> str:
        deeds = self._view.deeds
        place = next(place for place, deed in enumerate(deeds) if deed.step == step)
        what = self._breach(constraint, place, deeds[place])
        return f"Step {step}, {self._doer(deeds[place])}, {what}{self.source(constraint)}"

    def _doer(self, deed: Deed) -> str:
        name = self._names[deed.action]
        return f"{self._names[deed.by]} in the place of {name}" if deed.by else name

    def _breach(self, constraint: Constraint, place: int, deed: Deed) -> str:
        names = self._names
        match constraint:
            case Before(first):
                times = self._view.due[first]
                often = f"carried out {how_often(times)}" if times > 1 else "carried out"
                return f"came too early: {names[first]} has to be {often} before it."
            case Window(_, edge, bound, time):
                moment = deed.start if edge == "start" else deed.end
                limit = "before" if bound == "after" else "after"
                return f"{edge}ed at {clock(moment)}: it must not {edge} {limit} {clock(time)}."
            case Adjacent(first, then):
                return self._apart(first, then, place)
            case Place(action, "first"):
                return f"came first: {names[action]} has to be the first of all."
            case Place(action):
                return f"came after {names[action]}, which has to be the last of all."
            case Choice(options):
                before = next(d.action for d in self._view.deeds if d.action in options)
                return f"was carried out although {names[before]} had been: only one of them may be."
            case Condition():
                return self._uncalled_for(constraint, place)
            case Limit(_, most):
                before = f"{place} {'task' if place == 1 else 'tasks'}"
                return f"came too late: {before} had been carried out before it, at most {most} may be."
            case Spend(most):
                costs = self._case.world.costs
                spent = sum(costs.get(d.by or d.action, 0) for d in self._view.deeds[: place + 1])
                return f"brought the costs to {euros(spent)}: {self._affordable(most)}."
            case StandIn(action):
                return f"was carried out although {names[action]} had not turned out to be out of service."
            case Repeat() | Handover() | Given():
                raise ValueError("no deed breaks this constraint, but a call that was none")
        assert_never(constraint)

    def _affordable(self, most: int) -> str:
        case = self._case
        least = least_cost([action.id for action in case.actions], case.constraints, case.world)
        enough = "" if least is None else f", and {euros(least)} would have been enough"
        return f"no more than {euros(most)} may be spent{enough}"

    def _apart(self, first: str, then: str, place: int) -> str:
        names, deeds = self._names, self._view.deeds
        if deeds[place].action == then:
            where = f"came right after {self._doer(deeds[place - 1])}" if place else "came first"
            return f"{where}: it has to come right after {names[first]}."
        return f"came right after {names[first]}: {names[then]} has to come there."

    def _uncalled_for(self, condition: Condition, place: int) -> str:
        asks = self._names[condition.asks]
        if any(deed.action == condition.asks for deed in self._view.deeds[:place]):
            return f"was not to be carried out: {asks} reported {self._reported(condition)}."
        return f"came too early: whether it has to be carried out depends on what {asks} reports."

    def _reported(self, condition: Condition) -> str:
        return reported(condition, self._case.world.findings.get(condition.asks, False))

    def slip(self, slip: ParameterSlip, arguments: dict[str, Any], broken: Constraint | None) -> str:
        """Why a call was refused; `broken` is the constraint that it failed to meet, if there is one."""
        match broken:
            case Handover(giver):
                what = self._wrong_value(slip, arguments, giver)
            case Given(_, wanted):
                what = _wrong_argument(slip, arguments, wanted)
            case _:
                what = self._wrong_time(slip, arguments)
        return f"Step {slip.step}, {self._names[slip.action]}, {what}{self.source(broken)}"

    def _wrong_value(self, slip: ParameterSlip, arguments: dict[str, Any], giver: str) -> str:
        name = self._names[giver]
        given = f"was given {shown(arguments.get(slip.parameter))} as its {slip.parameter.replace('_', ' ')}"
        match slip.fault:
            case "stale":
                counts = f"only what {name} returned last in this attempt counts"
                return f"{given}, which is out of date: {counts}."
            case "swapped":
                return f"{given}, which another task returned: it needs the one that {name} returns."
            case _:
                return f"{given}, which is not what {name} returned."

    def _wrong_time(self, slip: ParameterSlip, arguments: dict[str, Any]) -> str:
        given = arguments.get(slip.parameter)
        start = minutes_of(given)
        if start is None:
            return f"was to start at {shown(given)}, which is not a time of day."
        if slip.fault == "early":
            last = [deed for deed in self._view.deeds if deed.step < slip.step][-1]
            return f"was to start at {clock(start)}: {self._doer(last)} ended at {clock(last.end)} only."
        begin, end = self._case.world.day or (0, 0)
        would = start + self._case.world.durations.get(slip.action, 0)
        return (
            f"was to last from {clock(start)} to {clock(would)}:"
            f" the day begins at {clock(begin)} and ends at {clock(end)}."
        )

    def lost(self, missing: Sequence[str]) -> str:
        reasons, told = list[str](), list[str]()
        for constraint in self._case.constraints:
            for actions, reason in self._losses(constraint, missing):
                if not any(action in told for action in actions):
                    reasons.append(reason + self.source(constraint))
                    told += actions
        rest = [self._names[action] for action in missing if action not in told]
        if rest:
            reasons.insert(0, f"{listed(rest)} {'was' if len(rest) == 1 else 'were'} never carried out.")
        return " ".join(f"{reason[0].upper()}{reason[1:]}" for reason in reasons)

    def _losses(self, constraint: Constraint, missing: Sequence[str]) -> Iterator[tuple[Sequence[str], str]]:
        names, done = self._names, self._view.places
        match constraint:
            case Choice(options) if all(option in missing for option in options):
                *others, last = [names[option] for option in options]
                yield options, f"neither {', '.join(others)} nor {last} was carried out."
            case Repeat(action, times) if action in missing and action in done:
                often = how_often(len(done[action]))
                yield [action], f"{names[action]} was carried out {often}, not {how_often(times)}."
            case Condition(asks, _, then, otherwise):
                for branch in (then, otherwise):
                    if branch in missing and branch not in done:
                        said = f"{names[asks]} reported {self._reported(constraint)}"
                        yield [branch], f"{said}, so {names[branch]} had to be carried out."
            case StandIn(action, by) if action in missing and action in self._case.world.broken:
                yield [action], f"{names[action]} is out of service, so {names[by]} had to take its place."

    def source(self, constraint: Constraint | None) -> str:
        """The source of a constraint: a sentence of the request, or the result that announced it."""
        case = self._case
        if isinstance(constraint, Before) and constraint.announced:
            sentence = case.world.announcements.get(constraint.announced, "")
            return f" The result of {self._names[constraint.announced]} said so: “{sentence}”"
        number = constraint.sentence if constraint else None
        if number is None or number >= len(case.sentences):
            return ""
        return f" Sentence {number + 1} says so: “{case.sentences[number]}”"


def _wrong_argument(slip: ParameterSlip, arguments: dict[str, Any], wanted: dict[str, Any]) -> str:
    name = slip.parameter
    if name not in arguments:
        return f"was called without {name}: it has to be {shown(wanted[name])}."
    return f"was called with {name} = {shown(arguments[name])}: it has to be {shown(wanted[name])}."


def shown(value: object) -> str:
    """A value from outside as JSON, truncated and on one line."""
    try:
        text = storable(json.dumps(value, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):  # not JSON, or nested too deeply
        text = f"something of the type {type(value).__name__}"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
