"""A search with no other source of values than what the code was seen to do."""

import json
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any, NamedTuple

from misstep.core.rng import Dice
from misstep.core.tool import Observation
from misstep.fuzzing.branch_solver import opened, openings
from misstep.fuzzing.taint import observe

Tool = Callable[..., Any]


class Refused(Exception):
    """What a tool raises on purpose."""


class Found(NamedTuple):
    arguments: dict[str, Any]
    error: str
    calls: int


def call(tool: Tool, arguments: dict[str, Any]) -> tuple[BaseException | None, tuple[Observation, ...]]:
    with observe() as marks:
        try:
            tool(**marks.arguments(json.loads(json.dumps(arguments))))
        except Refused:
            return None, marks.observations
        except Exception as error:
            return error, marks.observations
        return None, marks.observations


def climb(tool: Tool, arguments: dict[str, Any], wanted: str, most: int) -> Found | None:
    """Call the tool, try what that opens, and go on from whatever shows something new.

    What stands early in a list of openings comes before what stands late, added up from the first call on.
    """
    known: set[object] = set()
    tried: set[str] = set()
    waiting = [(0, json.dumps(arguments))]
    calls = 0
    while waiting and calls < most:
        cost, text = heappop(waiting)
        current = json.loads(text)
        calls += 1
        error, seen = call(tool, current)
        if error is not None and wanted in f"{type(error).__name__}: {error}":
            return Found(current, type(error).__name__, calls)
        what = frozenset(
            (one.path, one.operation, one.operand, one.outcome, tuple(name for name, _ in one.via))
            for one in seen
        )
        if what in known:
            continue
        known.add(what)
        for place, opening in enumerate(openings(current, seen, Dice(1)), 1):
            text = json.dumps(opened(current, opening), sort_keys=True)
            if text not in tried:
                tried.add(text)
                heappush(waiting, (cost + place, text))
    return None
