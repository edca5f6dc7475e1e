"""A few calls of each tool that it accepted, and some that it refused, on which contracts are tried."""

import json
import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from misstep.core.results.trial import Judged
from misstep.core.tool import ORDINARY, RESULT, Described, Invocation, Reaction, length_of, oddity_of
from misstep.fuzzing.contracts.steps import Calls, stems_of
from misstep.fuzzing.returned import MOST_TOLD, is_marker, values_in
from misstep.fuzzing.search.harvest import plain_name
from misstep.fuzzing.search.sequences import is_handle, makes_things, wave_of
from misstep.schemas.shape import mapping

MOST_ALONE, MOST_PREPARED = 5, 2  # accepted calls of a tool, alone and after others
MOST_REFUSED = 4
MOST_CALLS = 3  # in a sequence
LONGEST = 2_000  # characters of arguments
MOST_MAKERS, MOST_PER_MAKER = 3, 2  # preparations of a tool
MOST_HINTS = 8  # values of a parameter


class CallSamples:
    """The plainest and shortest calls of each tool. Several threads may add to them."""

    def __init__(self) -> None:
        self.accepted = dict[str, list[Calls]]()
        self.refused = dict[str, list[Calls]]()
        self.hung = dict[str, Calls]()  # the first call of each tool, alone, that took too long
        self._reasons = set[tuple[str, str]]()
        self._first = dict[str, Calls]()  # the first ordinary one of each tool, often more than the shortest
        self._telling = dict[str, tuple[int, Calls]]()  # the ordinary one whose result has most values
        self._told = dict[str, set[str]]()  # names of values in results, by tool
        self._lock = threading.Lock()

    def add(
        self, calls: Sequence[Invocation], judged: Judged, reaction: Reaction, by_server: bool = True
    ) -> None:
        """Take in valid calls, if the last of them is worth keeping; results are read if a server's."""
        if len(calls) > MOST_CALLS or length_of(calls) > LONGEST:
            return
        with self._lock:
            if reaction.ended == "hung" and len(calls) == 1:
                self.hung.setdefault(calls[-1].tool, tuple(calls))
            if reaction.ended != "returned":
                return
            if judged.ruling == "fine":
                _keep(tuple(calls), self.accepted.setdefault(calls[-1].tool, []))
                values = {*values_in(reaction)} if by_server else set[tuple[str, Any]]()
                if len(calls) == 1:
                    self._prefer(tuple(calls), len(values))
                told = self._told.setdefault(calls[-1].tool, set())
                names = {plain_name(name) for name, _ in values if name} - told
                told.update(sorted(names)[: MOST_TOLD - len(told)])
            elif judged.was_refused:
                kept = self.refused.setdefault(calls[-1].tool, [])
                reason = calls[-1].tool, judged.signature or judged.message
                if len(kept) < MOST_REFUSED and reason not in self._reasons:
                    self._reasons.add(reason)
                    kept.append(tuple(calls))

    def _prefer(self, calls: Calls, told: int) -> None:
        """Keep the first ordinary call of a tool, and the first of those with most values in the result."""
        tool = calls[-1].tool
        is_news = tool not in self._telling or told > self._telling[tool][0]
        if is_news and oddity_of(calls) == ORDINARY:
            self._first.setdefault(tool, calls)
            self._telling[tool] = told, calls

    def preparations_for(self, described: Described, tools: Sequence[Described]) -> list[Calls]:
        """Accepted calls of other tools that make or list something the tool may need, the likeliest first.

        Likely are those that return values with the names of parameters, then those with a similar name.
        Last come calls of several of these tools, in the order in which they are listed.
        """
        with self._lock:
            known = self._of_earlier(described, tools)
            fit = {name: self._fit(name, described) for name in known}
        names = sorted(known, key=lambda name: ([-each for each in fit[name]], name))
        names = [name for name in names if makes_things(name) or any(fit[name])]
        kin = [name for name in names if any(fit[name])] or names
        found = {name: [calls for calls in known[name] if len(calls) < MOST_CALLS] for name in names}
        chosen = [calls for name in kin[:MOST_MAKERS] for calls in found[name][:MOST_PER_MAKER]]
        listed = [tool.name for tool in tools if tool.name in names[:MOST_MAKERS] and found[tool.name]]
        together = [call for name in listed for call in found[name][0]]
        return [*chosen, *([tuple(together)] if len(listed) > 1 and len(together) <= MOST_CALLS else ())]

    def _fit(self, tool: str, described: Described) -> tuple[int, int]:
        """How many parameters a tool returns values for, and how many words both names share."""
        told, stems = self._told[tool], stems_of(tool)
        parameters = list(mapping(described.tool.parameters.get("properties")))
        named = [name for name in parameters if is_handle(name) and stems & stems_of(name)]
        fitting = sum(any(plain_name(name).endswith(each) for each in told) for name in named)
        if not makes_things(tool):
            return fitting, 0
        return fitting + len({*map(plain_name, parameters)} & told), len(stems_of(described.name) & stems)

    def hints_for(self, described: Described, tools: Sequence[Described]) -> dict[str, list[Any]]:
        """Values that tools which make something accepted, for parameters that this tool has as well."""
        found = dict[str, dict[str, Any]]()
        own = mapping(described.tool.parameters.get("properties"))
        with self._lock:
            known = self._of_earlier(described, tools)
        for call in [calls[-1] for name in sorted(known) if makes_things(name) for calls in known[name]]:
            for name, value in json.loads(call.arguments).items():
                if name in own and isinstance(value, str) and value.strip() and not is_marker(value):
                    found.setdefault(name, {}).setdefault(value, value)
        return {name: list(values.values())[:MOST_HINTS] for name, values in found.items()}

    def _best_of(self, tool: str) -> list[Calls]:
        """The calls of a tool that prepare best, often better than the shortest."""
        return [self._telling[tool][1], self._first[tool]] if tool in self._first else []

    def _of_earlier(self, described: Described, tools: Sequence[Described]) -> dict[str, list[Calls]]:
        """The ordinary calls that were accepted by tools which are tested before.

        A tool that takes an id has to be prepared itself: what is known in this process is not later on.
        """
        before = {tool.name: tool for tool in tools if wave_of(tool) < wave_of(described)}
        known = dict[str, list[Calls]]()
        for name in [each for each in self.accepted if each in before]:
            found = [each for each in self.accepted[name] if oddity_of(each) == ORDINARY]
            prepared = [each for each in found if len(each) > 1] if wave_of(before[name]) else []
            passing_on = [each for each in prepared if RESULT in each[-1].arguments]
            known[name] = passing_on or prepared or list(dict.fromkeys([*self._best_of(name), *found]))
        return known

    def snapshot(self) -> "CallSamples":
        """A copy of what preparations and hints are made of, to which nothing is added any more."""
        copy = CallSamples()
        with self._lock:
            copy.accepted = {tool: list(calls) for tool, calls in self.accepted.items()}
            copy._first, copy._telling = dict(self._first), dict(self._telling)
            copy._told = {tool: set(names) for tool, names in self._told.items()}
        return copy


def _keep(calls: Calls, kept: list[Calls]) -> None:
    """Keep the calls among the plainest and shortest; prepared ones first, which work from a fresh start.

    Most calls are longer than the ones that are kept, so nothing but their length is looked at.
    """
    last = kept[-1] if kept else ()
    is_full = len(calls) == len(last) == 1 and sum(len(each) == 1 for each in kept) == MOST_ALONE
    if is_full and _strangeness(last) <= (ORDINARY, 1, length_of(calls)):
        return
    if any(each[-1] == calls[-1] and len(each) == len(calls) for each in kept):
        return
    if len(calls) > 1 and len({call.tool for call in calls}) == 1:
        return  # repeated, not prepared
    found = sorted([*kept, calls], key=_strangeness)
    prepared = [each for each in found if len(each) > 1][:MOST_PREPARED]
    kept[:] = [*prepared, *[each for each in found if len(each) == 1][:MOST_ALONE]]


@lru_cache(maxsize=1024)  # each call is compared with the same few
def _strangeness(calls: Calls) -> tuple[int, int, int]:
    return oddity_of(calls), len(calls), length_of(calls)
