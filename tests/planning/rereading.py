"""Reads an example as anybody would who has nothing but its line in a file.

The request is understood by the reader of the language, the results by what they say, and what was done is held
against the reference for the meaning of constraints. Nothing here knows the case.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from misstep.core.agent import Tool
from misstep.core.case import CASE_VERSION, Action, Case, World
from misstep.core.constraint import Before, Constraint, Given, Handover, StandIn
from misstep.planning.language.hearing import Heard, read_result, read_rules
from misstep.planning.simulated.agent import Understanding, announced_by
from misstep.planning.world.simulator import Deed, History
from tests.planning.judging.semantics import due, holds, lost

Requested = tuple[str, dict[str, Any], str]  # a tool, its arguments, the result


def requested(messages: list[dict[str, Any]]) -> Iterator[list[Requested]]:
    """The calls of each turn; every call is answered, in its turn, before anything else is said."""
    rest = list(messages)
    while rest:
        turn = rest.pop(0)
        assert turn["role"] == "assistant"
        calls = turn.get("tool_calls", [])
        answers, rest = rest[: len(calls)], rest[len(calls) :]
        assert [answer["role"] for answer in answers] == ["tool"] * len(calls)
        assert [answer["tool_call_id"] for answer in answers] == [call["id"] for call in calls]
        told = [(call["function"], answer["content"]) for call, answer in zip(calls, answers, strict=True)]
        yield [(function["name"], json.loads(function["arguments"]), said) for function, said in told]


class Rereading:
    """What an example shows, replayed call by call; `complaints` are what is wrong with it."""

    def __init__(self, example: dict[str, Any]) -> None:
        system, user, *rest = example["messages"]
        assert (system["role"], user["role"]) == ("system", "user")
        request = user["content"]
        tools = [Tool(**tool["function"]) for tool in example["tools"]]
        understood = Understanding(request, tools)
        self._activity = {tool.name: activity for activity, tool in understood.tools.items()}
        self._rules = read_rules(request)
        relations = [Before(relation.first, relation.then) for relation in understood.relations]
        self._constraints: list[Constraint] = [*relations, *understood.demands]
        self._stands_in = {c.by: c.action for c in self._constraints if isinstance(c, StandIn)}
        self._broken = list[str]()
        self._findings = dict[str, bool]()
        self._costs = dict[str, int]()
        self._durations = dict[str, int]()
        self._attempt = 1
        self._begin()
        *self.turns, closing = requested(rest)
        assert closing == []
        assert rest[-1]["content"]
        for name, arguments, said in [call for turn in self.turns for call in turn]:
            self._hear(name, arguments, read_result(said))
        self._judge()

    def _begin(self) -> None:
        """Only the last attempt counts."""
        self.complaints = list[str]()
        self._deeds = list[Deed]()
        self._values = dict[tuple[str, str], str | int]()
        self._failed = dict[str, int]()
        self._calls_of = dict[str, int]()
        self._clock = self._rules.day[0] if self._rules.day else 0

    def _hear(self, name: str, arguments: dict[str, Any], heard: Heard) -> None:
        match heard.outcome:
            case "price":
                self._costs[self._activity[arguments["task"]]] = heard.cost or 0
            case "over":
                self._attempt += 1
                self._begin()
            case "unavailable":
                self._failed[name] = self._failed.get(name, 0) + 1
            case "broken":
                self._broken.append(self._activity[name])
            case "done":
                self._carry_out(self._activity[name], dict(arguments), heard)
            case "error":
                self.complaints.append(f"{name} was refused")

    def _carry_out(self, activity: str, arguments: dict[str, Any], heard: Heard) -> None:
        replaced = self._stands_in.get(activity)
        role = replaced if replaced in self._broken else activity
        start = self._start(arguments.pop("start_time", None)) if self._rules.day else 0
        end = start + (heard.minutes or 0)
        if self._rules.day and not self._clock <= start <= end <= self._rules.day[1]:
            self.complaints.append(f"{activity} does not lie within the day, or begins too early")
        if arguments != self._wanted(role, activity):
            self.complaints.append(f"{activity} was given {arguments}")
        self._clock = end
        step = len(self._deeds) + 1
        self._deeds.append(Deed(role, step, start, end, activity if role != activity else ""))
        self._calls_of[activity] = self._calls_of.get(activity, 0) + 1
        self._values |= {(role, parameter): value for parameter, value in heard.values.items()}
        if heard.finding is not None:
            self._findings[role] = heard.finding
        if heard.cost is not None:
            self._costs[activity] = heard.cost
        if heard.announcement:
            announced = announced_by(role, heard.announcement, list(self._activity.values()))
            assert announced
            self._constraints += [each for each in announced if each not in self._constraints]

    def _start(self, written: Any) -> int:
        found = re.fullmatch(r"(\d\d):(\d\d)", written)
        assert found
        return 60 * int(found[1]) + int(found[2])

    def _wanted(self, role: str, activity: str) -> dict[str, Any]:
        """What a tool has to be given: what was returned last, and what the request says."""
        wanted = dict[str, Any]()
        for constraint in self._constraints:
            if isinstance(constraint, Handover) and constraint.taker == role:
                wanted[constraint.parameter] = self._values.get((constraint.giver, constraint.parameter))
            if isinstance(constraint, Given) and constraint.action == activity:
                wanted |= constraint.arguments
        return wanted

    def _judge(self) -> None:
        world = World(findings=self._findings, costs=self._costs, broken=tuple(self._broken))
        actions = tuple([Action(activity, activity, activity) for activity in self._activity.values()])
        case = Case(CASE_VERSION, "", 0, "", "", actions, tuple(self._constraints), world=world)
        history = History(tuple(self._deeds), calls_of=self._calls_of)
        self.complaints += [repr(each) for each in case.constraints if not holds(each, history, case)]
        self.complaints += [f"{action} is lost" for action in lost(case, history)]
        self.complaints += self._superfluous(due(case, history))
        self.complaints += [
            f"{name} was tried {failed} times"
            for name, failed in self._failed.items()
            if failed > self._rules.retries
        ]
        if self._attempt > self._rules.attempts:
            self.complaints.append(f"there were {self._attempt} attempts")

    def _superfluous(self, times: dict[str, int]) -> Iterator[str]:
        """What was done more often than is due; options and stand-ins are judged by their constraints."""
        for action in times:
            done = sum(deed.action == action for deed in self._deeds)
            if done > max(times[action], 1):
                yield f"{action} was done {done} times"
