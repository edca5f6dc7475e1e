"""Simulates the tools of a case: what each call does and returns, and the history of the last attempt."""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Literal

import msgspec

from misstep.core.case import Case
from misstep.core.constraint import Condition, Handover
from misstep.planning.language.lexicon import load_lexicon
from misstep.planning.world.tool_table import ASK_PRICE, START_TIME, TASK, ToolEntry, ToolTable
from misstep.schemas.formats import same

NOTHING = "nothing of the kind"


def reported(condition: Condition, found: bool) -> str:
    """The finding in words, or its absence."""
    return condition.finding if found else _absences().get(condition.finding, NOTHING)


@cache
def _absences() -> dict[str, str]:
    return {finding.some: finding.none for finding in load_lexicon().conditions.all_findings}


ActFault = Literal["unknown", "arguments", "repeated", "parallel", "distractor", "attempts"]
ParameterFault = Literal["no time", "outside", "early", "value", "stale", "swapped"]


class Deed(msgspec.Struct, frozen=True):
    """An action carried out by the call number `step`.

    `start` and `end` are minutes since midnight, in timed problems. `by` is the action whose tool did it, if
    it was a stand-in.
    """

    action: str
    step: int
    start: int = 0
    end: int = 0
    by: str = ""


class ActSlip(msgspec.Struct, frozen=True):
    """A call that should not have been made; for a repeated call `action` is the action of its tool."""

    step: int
    fault: ActFault
    action: str = ""


class ParameterSlip(msgspec.Struct, frozen=True):
    """A valid call that was refused for a wrong value in a parameter; `action` is the action of its tool.

    A call with several wrong values makes one slip for each of them.
    """

    step: int
    fault: ParameterFault
    action: str
    parameter: str


class History(msgspec.Struct, frozen=True):
    """Deeds and slips in order, how often each action's tool has worked, and the number of the attempt.

    `began` is the number of the first call of the attempt.
    """

    deeds: tuple[Deed, ...] = ()
    acts: tuple[ActSlip, ...] = ()
    parameters: tuple[ParameterSlip, ...] = ()
    calls_of: dict[str, int] = {}
    attempt: int = 1
    began: int = 1


Returned = dict[str, str | int]


class Values:
    """What each action returns, execution by execution, across attempts."""

    __slots__ = ("_fresh", "_returned", "_values")

    def __init__(self, values: Mapping[str, Mapping[str, tuple[str | int, ...]]]) -> None:
        self._values = values
        self._returned: dict[str, list[Returned]] = {}  # in all attempts, the newest last
        self._fresh: set[str] = set()  # those that have returned something in this attempt

    def forget(self) -> None:
        self._fresh.clear()

    def give(self, action: str) -> Returned:
        values = self._values.get(action)
        if values is None:
            return {}
        returned = self._returned.setdefault(action, [])
        place = len(returned)
        returned.append({name: series[min(place, len(series) - 1)] for name, series in values.items()})
        self._fresh.add(action)
        return returned[-1]

    def fault(self, handover: Handover, passed: object) -> ParameterFault | None:
        """What is wrong with a value that was passed to the taker, if anything."""
        giver, parameter = handover.giver, handover.parameter
        returned = [each[parameter] for each in self._returned.get(giver, ()) if parameter in each]
        if giver in self._fresh and returned and same(passed, returned[-1]):
            return None
        if any(same(passed, value) for value in returned):
            return "stale"
        newest = [each[-1] for action, each in self._returned.items() if action != giver]
        swapped = any(same(passed, value) for values in newest for value in values.values())
        return "swapped" if swapped else "value"


Kind = Literal["done", "unavailable", "broken", "over", "price", "refused"]

_TIME = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")


class StepResult(msgspec.Struct, frozen=True):
    """The result of one call.

    A call that worked is `done`, even if it was not wanted; only one with a `deed` had an effect, and only
    that has minutes, values, a finding, a cost and an announcement. Of several wrong values in a call the
    first is the `slip`. `reason` says why arguments don't fit, `left` how many more attempts there are.
    """

    kind: Kind
    slip: ActSlip | ParameterSlip | None = None
    deed: Deed | None = None
    minutes: int = 0
    values: dict[str, str | int] = {}
    finding: bool | None = None
    cost: int | None = None
    announcement: str = ""
    reason: str = ""
    left: int = 0


class Simulator:
    """Simulates a case call by call; `history` is that of the current attempt."""

    def __init__(self, case: Case) -> None:
        self.cast = ToolTable(case)
        self._world = case.world
        self._step = 0
        self._attempt = 0
        self._failed: dict[str, int] = {}
        self._tried: set[str] = set()  # those known to be permanently out of service
        self._values = Values(case.world.values)
        self._begin()

    def _begin(self) -> None:
        """Start a new attempt: nothing done so far counts any more."""
        self._attempt += 1
        self._began = self._step + 1
        self._deeds: list[Deed] = []
        self._acts: list[ActSlip] = []
        self._slips: list[ParameterSlip] = []
        self._worked: dict[str, int] = {}
        self._done: dict[str, int] = {}
        self._clock = 0
        self._values.forget()

    @property
    def history(self) -> History:
        return History(
            tuple(self._deeds),
            tuple(self._acts),
            tuple(self._slips),
            dict(self._worked),
            self._attempt,
            self._began,
        )

    def play(self, tool: str, arguments: object) -> StepResult:
        self._step += 1
        part = self.cast.parts.get(tool)
        if part is None:
            return self._play_special(tool, arguments)
        reason = part.unfit(arguments)
        if reason or not isinstance(arguments, dict):
            return self._refuse("arguments", reason)
        if not part.is_needed:
            return StepResult("done", self._slip("distractor"))
        return self._call(part, arguments)

    def skip(self, tool: str, arguments: object) -> bool:
        """Record a call that was requested but never executed; True if it counts, because it was invalid."""
        self._step += 1
        reason = self.cast.unfit(tool, arguments)
        if reason == "":
            return False
        self._slip("unknown" if reason is None else "arguments")
        return True

    def blame_parallel(self) -> None:
        """Record that the last call should have had its own turn, unless something else was wrong with it."""
        if not (self._acts and self._acts[-1].step == self._step):
            self._slip("parallel")

    def _play_special(self, tool: str, arguments: object) -> StepResult:
        reason = self.cast.unfit(tool, arguments)
        if reason is None:
            return self._refuse("unknown")
        if reason:
            return self._refuse("arguments", reason)
        if tool == ASK_PRICE:
            assert isinstance(arguments, dict)
            return StepResult("price", cost=self.cast.prices[arguments[TASK]])
        if self._attempt >= self._world.attempts:
            return self._refuse("attempts")
        self._begin()
        return StepResult("over", left=self._world.attempts - self._attempt)

    def _call(self, part: ToolEntry, arguments: dict[str, object]) -> StepResult:
        """Execute a valid call of an action; the first obstacle decides."""
        action, world = part.action.id, self._world
        if action in world.broken:
            self._tried.add(action)
            return StepResult("broken")
        if world.failures and self._fails(action):
            return StepResult("unavailable")
        if part.handed or part.given:
            slips = self._wrong_values(part, arguments)
            if slips:
                self._slips += slips
                return StepResult("refused", slips[0])
        if world.day:
            return self._schedule(part, minutes_of(arguments.get(START_TIME)), *world.day)
        return self._carry_out(part, 0, 0)

    def _schedule(self, part: ToolEntry, start: int | None, dawn: int, dusk: int) -> StepResult:
        """Execute an action at a start time, if that is within the day and after all others."""
        if start is None:
            return self._refuse_time(part, "no time")
        if start < dawn:
            return self._refuse_time(part, "outside")
        if start < self._clock:
            return self._refuse_time(part, "early")
        end = start + self._world.durations.get(part.action.id, 0)
        return self._refuse_time(part, "outside") if end > dusk else self._carry_out(part, start, end)

    def _carry_out(self, part: ToolEntry, start: int, end: int) -> StepResult:
        action = part.action.id
        role = part.replaces if part.replaces in self._tried else action
        self._worked[action] = self._worked.get(action, 0) + 1
        done = self._done.get(role, 0)
        if done >= self.cast.times.get(role, 1):
            return StepResult("done", self._slip("repeated", action))
        deed = Deed(role, self._step, start, end, action if role != action else "")
        world = self._world
        announcement = "" if done else world.announcements.get(role, "")
        self._deeds.append(deed)
        self._done[role] = done + 1
        self._clock = end
        return StepResult(
            "done",
            None,
            deed,
            end - start,
            self._values.give(role) if world.values else {},
            world.findings.get(role),
            world.costs.get(action),
            announcement,
        )

    def _fails(self, action: str) -> bool:
        failed = self._failed.get(action, 0)
        if failed >= self._world.failures.get(action, 0):
            return False
        self._failed[action] = failed + 1
        return True

    def _wrong_values(self, part: ToolEntry, arguments: dict[str, object]) -> list[ParameterSlip]:
        action = part.action.id
        slips = list[ParameterSlip]()
        for handover in part.handed:
            fault = self._values.fault(handover, arguments.get(handover.parameter))
            if fault is not None:
                slips.append(ParameterSlip(self._step, fault, action, handover.parameter))
        for name, wanted in part.given.arguments.items() if part.given else ():
            if name not in arguments or not same(arguments[name], wanted):
                slips.append(ParameterSlip(self._step, "value", action, name))
        return slips

    def _slip(self, fault: ActFault, action: str = "") -> ActSlip:
        slip = ActSlip(self._step, fault, action)
        self._acts.append(slip)
        return slip

    def _refuse(self, fault: ActFault, reason: str = "") -> StepResult:
        return StepResult("refused", self._slip(fault), reason=reason)

    def _refuse_time(self, part: ToolEntry, fault: ParameterFault) -> StepResult:
        slip = ParameterSlip(self._step, fault, part.action.id, START_TIME)
        self._slips.append(slip)
        return StepResult("refused", slip)


def minutes_of(time: object) -> int | None:
    """The minutes since midnight of a text such as `9:30`; None if it is not a time of day."""
    return _minutes(time) if isinstance(time, str) else None


@lru_cache(maxsize=4096)  # more than there are minutes in a day
def _minutes(time: str) -> int | None:
    found = _TIME.fullmatch(time)
    return 60 * int(found[1]) + int(found[2]) if found else None
