"""Keeps the calls that reached something, the smallest for each thing reached."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from misstep.core.dice import Dice
from misstep.tooling.fuzzing.learning.feedback import Feature

Calls: TypeAlias = tuple[tuple[str, dict[str, Any]], ...]  # the tool of each and its arguments

_CONTENDERS = 3
_MOST = 600


class Entry:
    """Calls that reached something new; `size` is the length of their JSON texts."""

    __slots__ = ("calls", "features", "kept", "leads", "rank", "size", "spoilt", "used")

    def __init__(self, calls: Calls, size: int, spoilt: bool = False) -> None:
        self.calls = calls
        self.size = size
        self.spoilt = spoilt  # it ended in a defect: what is like it mostly ends there too
        self.features = dict[Feature, None]()
        self.leads = 0  # features that no smaller entry has
        self.used = 0
        self.kept = True
        self.rank = 0


class Corpus:
    """Every feature has the smallest entry that is known to reach it; an entry that is none of those goes."""

    def __init__(self) -> None:
        self._entries = list[Entry]()
        self._best = dict[Feature, Entry]()

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def add(self, entry: Entry, features: Sequence[Feature]) -> None:
        entry.rank = len(self._entries)
        self._entries.append(entry)
        self.credit(entry, features)
        if len(self._entries) > _MOST:
            self._drop(max(self._entries, key=lambda each: (each.used, each.size)))

    def credit(self, entry: Entry, features: Sequence[Feature]) -> None:
        """Note what an entry reaches, unless it has gone by now."""
        if not entry.kept:
            return
        for feature in features:
            entry.features[feature] = None
            best = self._best.get(feature)
            if best is entry or (best is not None and best.size <= entry.size):
                continue
            self._best[feature] = entry
            entry.leads += 1
            if best is not None:
                best.leads -= 1
                if not best.leads:
                    self._drop(best)
        if not entry.leads and len(self._entries) > 1:
            self._drop(entry)

    def improved_by(self, size: int, features: Sequence[Feature]) -> bool:
        """Whether calls of this size reach something that took far more so far."""
        best = self._best
        return any(feature in best and best[feature].size > 2 * size for feature in features)

    def pick(self, dice: Dice) -> Entry | None:
        """One that is small, seldom used, and alone in what it reaches: the best of a few."""
        if not self._entries:
            return None
        best = min((dice.pick(self._entries) for _ in range(_CONTENDERS)), key=_effort)
        best.used += 1
        return best

    def any(self, dice: Dice) -> Entry | None:
        return dice.pick(self._entries) if self._entries else None

    def _drop(self, entry: Entry) -> None:
        """Take out an entry; the last one takes its place."""
        entry.kept = False
        last = self._entries.pop()
        if last is not entry:
            self._entries[entry.rank] = last
            last.rank = entry.rank
        for feature in entry.features:
            if self._best.get(feature) is entry:
                del self._best[feature]


def _effort(entry: Entry) -> float:
    """Less is better."""
    return (entry.used + 1) * entry.size.bit_length() * (4 if entry.spoilt else 1) / (1 + entry.leads)
