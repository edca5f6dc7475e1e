"""Keeps the findings of a run: each defect once, with how often it was seen and the smallest calls so far."""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import get_args

import msgspec

from misstep.core.finding import Finding, FindingKind, Judged, Richness
from misstep.core.tool import Frame, Invocation
from misstep.tooling.judging.signatures import finding_id
from misstep.tooling.triage.richness import chao1

HISTORY = 100  # calls that are remembered, since what shows itself now may have begun with one of them
MOST_KEPT = 1 << 20  # characters of arguments in the history of one defect

_KINDS = frozenset(get_args(FindingKind))

Key = tuple[str, str, str]


class Entry(msgspec.Struct, kw_only=True):
    """One defect. `calls` are the smallest that showed it, `before` those made ahead of them, oldest first.

    The last of `calls` showed it; those in front of it, and in `before`, may have had a part in it.
    """

    tool: str
    kind: FindingKind
    judged: Judged
    calls: tuple[Invocation, ...]
    before: tuple[Invocation, ...]
    original: tuple[Invocation, ...]
    found_after: int
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


class Book:
    """The defects that calls have shown. It wants to hear of every call, in the order they are made."""

    def __init__(self, history: int = HISTORY) -> None:
        self._entries: dict[Key, Entry] = {}
        self._history: deque[Invocation] = deque(maxlen=history)

    def add(
        self,
        calls: Sequence[Invocation],
        judged: Judged,
        number: int,
        origin: str = "",
        frames: Sequence[Frame] = (),
    ) -> bool:
        """Note what the last of an attempt's calls came to; the others of them have been added before.

        `number` counts the calls of the run. Says whether it is a defect that had not been seen.
        """
        last = calls[-1]
        new = judged.ruling in _KINDS and self._count(calls, judged, number, origin, frames)
        self._history.append(last)
        return new

    def begin_anew(self) -> None:
        """Tell that the tools' state was put back, so that what was called before no longer matters."""
        self._history.clear()

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def of(self, tool: str) -> list[Entry]:
        return [entry for entry in self if entry.tool == tool]

    def richness(self, tool: str | None = None) -> Richness:
        """How many defects there are in all, in one tool or in all of them, as far as can be estimated."""
        return chao1(entry.seen for entry in self if tool in (None, entry.tool))

    def _count(
        self,
        calls: Sequence[Invocation],
        judged: Judged,
        number: int,
        origin: str,
        frames: Sequence[Frame],
    ) -> bool:
        key = calls[-1].tool, judged.ruling, judged.signature
        entry = self._entries.get(key)
        if entry is not None:
            entry.seen += 1
            if size_of(calls) < size_of(entry.calls):
                entry.judged, entry.calls, entry.before = judged, tuple(calls), self._before(calls)
            return False
        self._entries[key] = Entry(
            tool=calls[-1].tool,
            kind=judged.ruling,  # type: ignore[arg-type]  # whoever calls has looked
            judged=judged,
            calls=tuple(calls),
            before=self._before(calls),
            original=tuple(calls),
            found_after=number,
            origin=origin,
            frames=tuple(frames),
        )
        return True

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


def size_of(calls: Sequence[Invocation]) -> tuple[int, int, str]:
    """Smaller for fewer calls, then for shorter arguments; the text decides between equals."""
    texts = [call.arguments for call in calls]
    return len(texts), sum(map(len, texts)), "\n".join(texts)
