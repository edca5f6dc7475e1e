"""Keeps the defects that a run has shown, each of them once.

Which values of calls the documentation of their tools names.
"""

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

import msgspec

from misstep.core.results.finding import Finding, FindingKind, length_of, oddity_of
from misstep.core.results.trial import Judged
from misstep.core.tool import Described, Frame, Invocation
from misstep.fuzzing.judging.signatures import finding_id
from misstep.schemas.shape import mapping, resolve

SHORTEST = 3  # characters of a text that is not in a description by chance


def documented_values(calls: Sequence[Invocation], tools: Mapping[str, Described]) -> int:
    """How many arguments have a value that a schema, an example or a description names."""
    return sum(_named(tools[call.tool], call) for call in calls if call.tool in tools)


def _named(described: Described, call: Invocation) -> int:
    schema = described.tool.parameters
    examples = [mapping(json.loads(text)) for text in described.examples]
    count = 0
    for name, value in json.loads(call.arguments).items():
        own = mapping(resolve(mapping(schema.get("properties")).get(name), schema))
        known = [*_listed(own), *(each[name] for each in examples if name in each)]
        count += value in known or _is_in(f"{described.tool.description}\n{own.get('description')}", value)
    return count


def _listed(schema: Mapping[str, Any]) -> list[Any]:
    lists = [schema.get(keyword) for keyword in ("enum", "examples")]
    single = [schema[keyword] for keyword in ("const", "default") if keyword in schema]
    return [*single, *(value for each in lists if isinstance(each, list) for value in each)]


def _is_in(text: str, value: Any) -> bool:
    if not isinstance(value, str) or len(value) < SHORTEST:
        return False
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None


MOST_DEFECTS = 200  # of one examination: whoever has more than that has one, told in many ways
HISTORY = 100  # calls that are remembered, since what shows itself now may have begun with one of them
MOST_KEPT = 1 << 20  # characters of arguments in the history of one defect

_KINDS = frozenset(get_args(FindingKind))

Key = tuple[str, str, str]


class Defect(msgspec.Struct, kw_only=True):
    """One defect. `calls` are the plainest that showed it, `before` those made ahead of them, oldest first.

    The last of `calls` showed it; those in front of it, and in `before`, may have had a part in it.
    `original` are the calls that showed it first, and `earlier` those ahead of them, from which less has been
    forgotten.
    """

    tool: str
    kind: FindingKind
    judged: Judged
    calls: tuple[Invocation, ...]
    before: tuple[Invocation, ...]
    original: tuple[Invocation, ...]
    found_after: int
    earlier: tuple[Invocation, ...] = ()
    seen: int = 1
    origin: str = ""
    frames: tuple[Frame, ...] = ()

    @property
    def id(self) -> str:
        return finding_id(self.tool, self.kind, self.judged.signature)

    def finding(
        self, calls: Sequence[Invocation], replayed: int, reproduced: int, judged: Judged | None = None
    ) -> Finding:
        """What is told of it, with these calls to show it, and the ruling on them if they got one."""
        judged = judged or self.judged
        return Finding(
            id=self.id,
            tool=self.tool,
            kind=self.kind,
            error=judged.error,
            where=judged.where,
            message=judged.message,
            why=judged.why,
            signature=self.judged.signature,
            calls=tuple(calls),
            original=self.original,
            found_after=self.found_after,
            seen=self.seen,
            replayed=replayed,
            reproduced=reproduced,
            origin=self.origin,
            frames=self.frames,
        )


class DefectIndex:
    """The defects that calls have shown. It wants to hear of every call, in the order they are made."""

    def __init__(self, history: int = HISTORY) -> None:
        self._entries: dict[Key, Defect] = {}
        self._history: deque[Invocation] = deque(maxlen=history)

    def add(
        self,
        calls: Sequence[Invocation],
        judged: Judged,
        number: int,
        origin: str = "",
        frames: Sequence[Frame] = (),
    ) -> Defect | None:
        """Note what the last of an attempt's calls came to; the others of them have been added before.

        `number` counts the calls of the run. Gives the defect if it had not been seen.
        """
        last = calls[-1]
        new = self._count(calls, judged, number, origin, frames) if judged.ruling in _KINDS else None
        self._history.append(last)
        return new

    def recall(self, finding: Finding) -> None:
        """Note a defect of an earlier sitting, as if it had been added."""
        ruling = Judged(
            finding.ruling, finding.why, finding.signature, finding.error, finding.where, finding.message
        )
        self._entries[finding.tool, finding.kind, finding.signature] = Defect(
            tool=finding.tool,
            kind=finding.kind,
            judged=ruling,
            calls=finding.calls,
            before=(),
            original=finding.original,
            found_after=finding.found_after,
            seen=finding.seen,
            origin=finding.origin,
            frames=finding.frames,
        )

    def begin_anew(self) -> None:
        """Tell that the tools' state was put back, so that what was called before no longer matters."""
        self._history.clear()

    def __iter__(self) -> Iterator[Defect]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def _count(
        self,
        calls: Sequence[Invocation],
        judged: Judged,
        number: int,
        origin: str,
        frames: Sequence[Frame],
    ) -> Defect | None:
        key = calls[-1].tool, judged.ruling, judged.signature
        entry = self._entries.get(key)
        if entry is not None:
            self._see_again(entry, calls, judged)
            return None
        if len(self._entries) >= MOST_DEFECTS:
            return None
        before = self._before(calls)
        self._entries[key] = entry = Defect(
            tool=calls[-1].tool,
            kind=judged.ruling,  # type: ignore[arg-type]  # whoever calls has looked
            judged=judged,
            calls=tuple(calls),
            before=before,
            original=tuple(calls),
            earlier=before,
            found_after=number,
            origin=origin,
            frames=tuple(frames),
        )
        return entry

    def _see_again(self, entry: Defect, calls: Sequence[Invocation], judged: Judged) -> None:
        entry.seen += 1
        if size_of(calls) < size_of(entry.calls):
            entry.judged, entry.calls, entry.before = judged, tuple(calls), self._before(calls)

    def _before(self, calls: Sequence[Invocation]) -> tuple[Invocation, ...]:
        """What was called ahead of these calls, as far as there is room to keep it."""
        earlier = list(self._history)[: max(0, len(self._history) - len(calls) + 1)]
        room, kept = MOST_KEPT, deque[Invocation]()
        for invocation in reversed(earlier):
            room -= len(invocation.arguments)
            if room < 0:
                break
            kept.appendleft(invocation)
        return tuple(kept)


def size_of(calls: Sequence[Invocation]) -> tuple[int, int, int, str]:
    """Smaller for fewer calls, then for ordinary values, then for shorter arguments, then by the text."""
    return len(calls), oddity_of(calls), length_of(calls), "\n".join(call.arguments for call in calls)
