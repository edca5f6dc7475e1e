"""Collects the defects of a run, each once, with the simplest calls that showed it."""

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast, get_args

import msgspec

from misstep.core.results.finding import Finding, FindingKind, length_of, oddity_of
from misstep.core.results.trial import Judged
from misstep.core.tool import Described, Frame, Invocation
from misstep.fuzzing.judging.echoes import finding_id
from misstep.schemas.shape import mapping, resolve

SHORTEST = 3  # characters of a text that is not in a description by coincidence


def documented_values(calls: Sequence[Invocation], tools: Mapping[str, Described]) -> int:
    """How many arguments have a value that the schema, an example or the description mentions."""
    return sum(_named(tools[call.tool], call) for call in calls if call.tool in tools)


def _named(described: Described, call: Invocation) -> int:
    schema = described.tool.parameters
    examples = [mapping(json.loads(text)) for text in described.examples]
    count = 0
    for name, value in json.loads(call.arguments).items():
        own = mapping(resolve(mapping(schema.get("properties")).get(name), schema))
        known = [*_listed(own), *(each[name] for each in examples if name in each)]
        said = f"{described.tool.description}\n{own.get('description')}"
        is_long = isinstance(value, str) and len(value) >= SHORTEST
        count += value in known or bool(is_long and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", said))
    return count


def _listed(schema: Mapping[str, Any]) -> list[Any]:
    lists = [schema.get(keyword) for keyword in ("enum", "examples")]
    single = [schema[keyword] for keyword in ("const", "default") if keyword in schema]
    return [*single, *(value for each in lists if isinstance(each, list) for value in each)]


MOST_DEFECTS = 200  # per examination: more are probably one defect with varying messages
HISTORY = 100  # calls remembered, since an earlier call may have caused a defect
MOST_KEPT = 1 << 20  # characters of arguments in the history of one defect

_KINDS = frozenset(get_args(FindingKind))

Key = tuple[str, str, str]


class Defect(msgspec.Struct, kw_only=True):
    """One defect. `calls` are the simplest that showed it, `before` the calls made before them, oldest first.

    The last of `calls` showed it; the others and those in `before` may have contributed. `original` are the
    calls that showed it first, and `earlier` those before them, whose history is more complete.
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
        """The defect as a finding, with these calls and their ruling if there is one."""
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
    """The defects that calls have shown. Every call has to be added, in order."""

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
        """Record the ruling on the last of an attempt's calls; the others have been added before.

        `number` counts the calls of the run. Returns the defect if it is new.
        """
        key = calls[-1].tool, judged.ruling, judged.signature
        entry = self._entries.get(key)
        new = None
        if entry is not None:
            entry.seen += 1
            if size_of(calls) < size_of(entry.calls):
                entry.judged, entry.calls, entry.before = judged, tuple(calls), self._before(calls)
        elif judged.ruling in _KINDS and len(self._entries) < MOST_DEFECTS:
            before = self._before(calls)
            self._entries[key] = new = Defect(
                tool=calls[-1].tool,
                kind=cast("FindingKind", judged.ruling),
                judged=judged,
                calls=tuple(calls),
                before=before,
                original=tuple(calls),
                earlier=before,
                found_after=number,
                origin=origin,
                frames=tuple(frames),
            )
        self._history.append(calls[-1])
        return new

    def recall(self, finding: Finding) -> None:
        """Record a defect of an earlier session."""
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
        """Forget earlier calls, because the tools' state was reset."""
        self._history.clear()

    def __iter__(self) -> Iterator[Defect]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def _before(self, calls: Sequence[Invocation]) -> tuple[Invocation, ...]:
        """The calls made before these, as far as they fit the size limit."""
        earlier = list(self._history)[: max(0, len(self._history) - len(calls) + 1)]
        room, kept = MOST_KEPT, deque[Invocation]()
        for invocation in reversed(earlier):
            room -= len(invocation.arguments)
            if room < 0:
                break
            kept.appendleft(invocation)
        return tuple(kept)


def size_of(calls: Sequence[Invocation]) -> tuple[int, int, int, str]:
    """A sort key: fewer calls, then ordinary values, then shorter arguments, then the text itself."""
    return len(calls), oddity_of(calls), length_of(calls), "\n".join(call.arguments for call in calls)
