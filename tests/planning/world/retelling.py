"""A case retold from all its calls, slowly: whatever is asked of the past is looked up in the whole of it."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from misstep.core.case import Action, Case
from misstep.core.constraint import Constraint, Given, Handover, Repeat, StandIn
from misstep.core.outcome import Call
from misstep.schemas.schema import fits


class Event(msgspec.Struct):
    """One call. `came` is what came of it: done, broken, unavailable, price, over, refused or skipped."""

    step: int
    attempt: int
    came: str
    action: str = ""
    role: str = ""
    act: str = ""
    slips: list[tuple[str, str]] = []
    start: int = 0
    end: int = 0
    values: dict[str, Any] = {}
    number: int = 0  # of the call among those of the same tool that worked in this attempt


class Retelling:
    def __init__(self, case: Case, calls: Sequence[Call]) -> None:
        self.case = case
        self.events = list[Event]()
        for call in calls:
            self.events.append(self._event(call))

    @property
    def attempt(self) -> int:
        return 1 + sum(event.came == "over" for event in self.events)

    def last(self) -> list[Event]:
        return [event for event in self.events if event.attempt == self.attempt]

    def deeds(self) -> list[tuple[str, int, int, int, str]]:
        return [
            (
                event.role,
                event.step,
                event.start,
                event.end,
                event.action if event.action != event.role else "",
            )
            for event in self.last()
            if self._is_deed(event)
        ]

    def acts(self) -> list[tuple[int, str, str]]:
        return [
            (event.step, event.act, event.action if event.act == "repeated" else "")
            for event in self.last()
            if event.act
        ]

    def slips(self) -> list[tuple[int, str, str, str]]:
        return [
            (event.step, fault, event.action, name) for event in self.last() for fault, name in event.slips
        ]

    def _is_deed(self, event: Event) -> bool:
        return event.came == "done" and not event.act

    def _all(self, kind: type[Any]) -> list[Any]:
        found: list[Constraint] = [c for c in self.case.constraints if isinstance(c, kind)]
        return found

    def _event(self, call: Call) -> Event:
        event = Event(len(self.events) + 1, self.attempt, "refused")
        special = {"start_over": self.case.world.attempts > 1, "ask_price": bool(self._priced())}
        action = next((a for a in (*self.case.actions, *self.case.distractors) if a.tool == call.tool), None)
        if action is None and not special.get(call.tool):
            event.act = "unknown"
        elif not self._does_fit(call, action):
            event.act = "arguments"
        elif call.ran < 0:
            event.came = "skipped"
        elif action in self.case.distractors:
            event.came, event.act = "done", "distractor"
        elif action is not None:
            self._play(event, action, call.arguments)
        elif call.tool == "ask_price":
            event.came = "price"
        elif self.attempt == self.case.world.attempts:
            event.act = "attempts"
        else:
            event.came = "over"
        return event

    def _priced(self) -> list[str]:
        return [action.tool for action in self.case.actions if action.id in self.case.world.costs]

    def _does_fit(self, call: Call, action: Action | None) -> bool:
        if not isinstance(call.arguments, dict):
            return False
        if action is not None and action.parameters is not None:
            return fits(action.parameters, call.arguments) is None
        wanted: dict[str, type] = {}
        if action is None:
            wanted = {"task": str} if call.tool == "ask_price" else {}
        else:
            if self.case.world.day:
                wanted["start_time"] = str
            for handover in self._handed(action.id):
                series = self.case.world.values[handover.giver][handover.parameter]
                wanted[handover.parameter] = type(series[0])
        if set(wanted) != set(call.arguments):
            return False
        if not all(type(call.arguments[name]) is kind for name, kind in wanted.items()):
            return False
        return call.tool != "ask_price" or call.arguments["task"] in self._priced()

    def _handed(self, action: str) -> list[Handover]:
        takers = [action, *(each.action for each in self._all(StandIn) if each.by == action)]
        return [handover for handover in self._all(Handover) if handover.taker in takers]

    def _play(self, event: Event, action: Action, arguments: dict[str, Any]) -> None:
        world = self.case.world
        event.action = action.id
        if action.id in world.broken:
            event.came = "broken"
            return
        failed = [e for e in self.events if e.action == action.id and e.came == "unavailable"]
        if len(failed) < world.failures.get(action.id, 0):
            event.came = "unavailable"
            return
        event.slips = self._wrong_values(action.id, arguments) or self._wrong_time(event, arguments)
        if not event.slips:
            event.came = "done"
            event.role = self._role(action.id)
            worked = [e for e in self.last() if e.role == event.role and self._is_deed(e)]
            times = [each.times for each in self._all(Repeat) if each.action == event.role]
            if len(worked) >= (times[0] if times else 1):
                event.act = "repeated"
            else:
                done = [e for e in self.events if e.role == event.role and self._is_deed(e)]
                series = world.values.get(event.role, {})
                event.values = {name: each[min(len(done), len(each) - 1)] for name, each in series.items()}

    def _role(self, action: str) -> str:
        for each in self._all(StandIn):
            tried = any(e.action == each.action and e.came == "broken" for e in self.events)
            if each.by == action and tried:
                return str(each.action)
        return action

    def _wrong_values(self, action: str, arguments: dict[str, Any]) -> list[tuple[str, str]]:
        slips = list[tuple[str, str]]()
        for handover in self._handed(action):
            name, value = handover.parameter, arguments[handover.parameter]
            mine = [e for e in self.events if e.role == handover.giver and self._is_deed(e)]
            now = [e for e in mine if e.attempt == self.attempt]
            others = {e.role: e.values for e in self.events if self._is_deed(e) and e.role != handover.giver}
            if now and now[-1].values[name] == value:
                continue
            if value in [e.values[name] for e in mine]:
                slips.append(("stale", name))
            elif any(value in values.values() for values in others.values()):
                slips.append(("swapped", name))
            else:
                slips.append(("value", name))
        for given in self._all(Given):
            if given.action == action:
                for name, value in given.arguments.items():
                    right = name in arguments and arguments[name] == value
                    if not right or isinstance(arguments[name], bool):
                        slips.append(("value", name))
        return slips

    def _wrong_time(self, event: Event, arguments: dict[str, Any]) -> list[tuple[str, str]]:
        world = self.case.world
        if not world.day:
            return []
        text = arguments["start_time"]
        if not re.fullmatch(r"[0-9]?[0-9]:[0-9][0-9]", text):
            return [("no time", "start_time")]
        hour, minute = map(int, text.split(":"))
        if hour > 23 or minute > 59:
            return [("no time", "start_time")]
        event.start = 60 * hour + minute
        event.end = event.start + world.durations[event.action]
        ends = [e.end for e in self.last() if self._is_deed(e)]
        if event.start < world.day[0]:
            return [("outside", "start_time")]
        if ends and event.start < ends[-1]:
            return [("early", "start_time")]
        return [("outside", "start_time")] if event.end > world.day[1] else []
