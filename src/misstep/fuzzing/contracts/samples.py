"""A few calls of each tool that it accepted, and some that it refused, on which contracts are tried."""

import json
import threading
from collections.abc import Sequence
from typing import Any

from misstep.core.results.trial import Judged
from misstep.core.tool import ORDINARY, Described, Invocation, Reaction, length_of, oddity_of
from misstep.fuzzing.contracts.steps import Calls, stems_of
from misstep.fuzzing.search.sequences import stage_of
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
        self._reasons = set[tuple[str, str]]()
        self._lock = threading.Lock()

    def add(self, calls: Sequence[Invocation], judged: Judged, reaction: Reaction) -> None:
        """Take in valid calls, if the last of them is worth keeping."""
        if len(calls) > MOST_CALLS or length_of(calls) > LONGEST or reaction.ended != "returned":
            return
        with self._lock:
            if judged.ruling == "fine":
                _keep(tuple(calls), self.accepted.setdefault(calls[-1].tool, []))
            elif judged.was_refused:
                kept = self.refused.setdefault(calls[-1].tool, [])
                reason = calls[-1].tool, judged.signature or judged.message
                if len(kept) < MOST_REFUSED and reason not in self._reasons:
                    self._reasons.add(reason)
                    kept.append(tuple(calls))

    def preparations_for(self, tool: str) -> list[Calls]:
        """Accepted calls of tools that make something the tool may need, the most similar first."""
        own, makers = stems_of(tool), self._of_makers(tool)
        names = sorted(makers, key=lambda name: (-len(own & stems_of(name)), name))
        kin = [name for name in names if own & stems_of(name)] or names
        alone = {name: [calls for calls in makers[name] if len(calls) == 1] for name in kin[:MOST_MAKERS]}
        return [calls for found in alone.values() for calls in found[:MOST_PER_MAKER]]

    def hints_for(self, described: Described) -> dict[str, list[Any]]:
        """Values that tools which make something accepted, for parameters that this tool has as well."""
        found = dict[str, dict[str, Any]]()
        own, makers = mapping(described.tool.parameters.get("properties")), self._of_makers(described.name)
        for call in [calls[-1] for maker in sorted(makers) for calls in makers[maker]]:
            for name, value in json.loads(call.arguments).items():
                if name in own and isinstance(value, str) and value.strip():
                    found.setdefault(name, {}).setdefault(value, value)
        return {name: list(values.values())[:MOST_HINTS] for name, values in found.items()}

    def _of_makers(self, tool: str) -> dict[str, list[Calls]]:
        """The ordinary calls that other tools which make something accepted."""
        return {
            name: [calls for calls in found if oddity_of(calls) == ORDINARY]
            for name, found in self.accepted.items()
            if stage_of(name) == 0 and name != tool
        }


def _keep(calls: Calls, kept: list[Calls]) -> None:
    """Keep the calls among the plainest and shortest; prepared ones first, which work from a fresh start."""
    if any(each[-1] == calls[-1] and len(each) == len(calls) for each in kept):
        return
    found = sorted([*kept, calls], key=lambda each: (oddity_of(each), len(each), length_of(each)))
    prepared = [each for each in found if len(each) > 1][:MOST_PREPARED]
    kept[:] = [*prepared, *[each for each in found if len(each) == 1][:MOST_ALONE]]
