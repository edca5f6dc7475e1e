"""What the fuzzer remembers: calls that reached something new, hazards, observations, successful sources.

The corpus has the smallest calls for each feature, which is an edge in the tool's code if coverage is
available, or else the shape of the result.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, TypeAlias

import msgspec

from misstep.core.results.trial import REFUSALS, Judged
from misstep.core.rng import Dice
from misstep.core.tool import Invocation, Observation, Path, Reaction

Calls: TypeAlias = tuple[tuple[str, dict[str, Any]], ...]  # tool name and arguments of each
Feature: TypeAlias = int | str  # an edge in the code, or the outline of a result
Features: TypeAlias = Sequence[Feature]

_READ = 400  # characters of a text used for its outline
_SHOWN = 120  # characters of an outline
_WORDS = 8  # of a text that is not an error; the rest is content
_MOST_OUTLINES = 96  # per tool; with more, the outline differs each time
_MOST_KEYS = 24
_EDGE = 56  # bits, more than an edge has
_DEEPEST = 3

_PARTS = re.compile(
    r"""(?P<quoted>"[^"]{0,200}"|'[^']{0,200}'|`[^`]{0,200}`)|(?P<path>(?:\w:)?[\\/][^\s:,;'"]{2,})"""
    r"""|(?P<number>0x[0-9a-fA-F]+|[0-9a-fA-F]{8}-[-0-9a-fA-F]{9,}|[-+]?\d[\d.,:eE+-]*)"""
)
_ERROR = re.compile(r"error|exception|invalid|fail|cannot|can't|not |denied|unknown|missing|traceback", re.I)


class Feedback:
    """Tells what is new about the calls of one tool, or about the order of results."""

    def __init__(self, tool: int) -> None:
        self._tool = tool  # its index in the toolkit, since tools may share code
        self._seen = set[Feature]()
        self._outlines = 0
        self._has_edges = False

    def features(
        self, reaction: Reaction, judged: Judged, arguments: Mapping[str, Any]
    ) -> tuple[Feature, ...]:
        """All features of the call; only new edges are known unless it was marked."""
        self._has_edges = self._has_edges or bool(reaction.edges)
        shape = outline(reaction, judged, arguments, brief=self._has_edges)
        if not self._tool:
            return (*reaction.edges, shape)
        apart = self._tool << _EDGE
        return (*(edge | apart for edge in reaction.edges), f"{self._tool} {shape}")

    def fresh(self, features: Features) -> list[Feature]:
        """The features never seen before; no more outlines once there are too many."""
        found = list[Feature]()
        for feature in features:
            is_outline = type(feature) is str
            if feature not in self._seen and not (is_outline and self._outlines >= _MOST_OUTLINES):
                self._outlines += is_outline
                self._seen.add(feature)
                found.append(feature)
        return found


def outline(reaction: Reaction, judged: Judged, arguments: Mapping[str, Any], brief: bool = False) -> str:
    """A text that is equal for results that differ only in content.

    `brief` is for tools with coverage, for which the result matters less.
    """
    if judged.signature:
        return f"!{judged.ruling} {judged.signature}"
    if reaction.raised is not None:
        return f"!{reaction.raised.kind} {normalised(reaction.raised.message, arguments)}"
    if reaction.ended != "returned":
        return f"!{reaction.ended}"
    head = "?" if reaction.flagged or judged.ruling in (*REFUSALS, "environment") else ""
    size = reaction.size.bit_length() // 2
    if reaction.structured is not None:
        return f"{head}{size} {_form_of(reaction.structured)}"
    if not head and brief:
        return f"{size}"
    if reaction.text[:1] in ("{", "["):
        return f"{head}{size} {_form_of(reaction.text)}"
    text = normalised(reaction.text, arguments)
    is_error = head or _ERROR.search(reaction.text[:_READ])
    return f"?{text}" if is_error else f"{size} {' '.join(text.split()[:_WORDS])}"


def normalised(text: str, arguments: Mapping[str, Any]) -> str:
    """The text without what varies between calls: numbers, quotations, arguments."""
    text = text[:_READ]
    for value in arguments.values():
        if type(value) is str and len(value) > 2:
            text = text.replace(value[:_READ], "*")
    return _PARTS.sub("*", text)[:_SHOWN]


def _form_of(text: str) -> str:
    try:
        return form(msgspec.json.decode(text))
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return text[:1]


def form(value: Any, deep: int = 0) -> str:
    """The keys and types of a JSON value."""
    if isinstance(value, dict):
        keys = sorted(value)[:_MOST_KEYS] if deep < _DEEPEST else ()
        return "{" + ",".join(f"{key[:24]}:{form(value[key], deep + 1)}" for key in keys) + "}"
    if isinstance(value, list):
        many = min(len(value).bit_length(), 4)
        return f"[{many}{form(value[0], deep + 1) if value and deep < _DEEPEST else ''}]"
    return type(value).__name__[:1]


_CONTENDERS = 3
_MOST = 600


class CallSequence(msgspec.Struct, frozen=True):
    """Calls to make one after the other.

    `mark` requests observations of what the code does with the arguments. `origin` says how they were
    generated. `fits` says for each call whether its arguments fit the schema; `broken` is what is wrong with
    the first that don't.
    """

    number: int
    calls: tuple[Invocation, ...]
    mark: bool
    origin: str
    fits: tuple[bool, ...]
    broken: str = ""


class CorpusEntry(msgspec.Struct, eq=False):
    """Calls that reached something new; `size` is the length of their JSON texts."""

    calls: Calls
    size: int
    spoilt: bool = False  # it ended in a defect, as similar calls mostly will
    features: dict[Feature, None] = {}
    leads: int = 0  # features for which this is the smallest entry
    used: int = 0
    kept: bool = True
    rank: int = 0


class CallIdea(msgspec.Struct, eq=False):
    """Calls and how they were generated.

    `broken` is what is wrong with their arguments, empty if nothing, None if unknown. `entry` is the corpus
    entry they are to tell more about. `again` if they may repeat earlier calls, `urgent` if they follow a
    discovery.
    """

    calls: Calls
    origin: str
    mark: bool = False
    broken: str | None = None
    again: bool = False
    source: str | None = None  # what is rewarded for their findings, if that is not `origin`
    entry: CorpusEntry | None = None
    size: int = 0
    urgent: bool = False


class Corpus:
    """The smallest known entry for every feature; entries that are smallest for none are dropped."""

    def __init__(self) -> None:
        self._entries = list[CorpusEntry]()
        self._best = dict[Feature, CorpusEntry]()

    def __iter__(self) -> Iterator[CorpusEntry]:
        return iter(self._entries)

    def add(self, entry: CorpusEntry, features: Features) -> None:
        entry.rank = len(self._entries)
        self._entries.append(entry)
        self.credit(entry, features)
        if len(self._entries) > _MOST:
            self._drop(max(self._entries, key=lambda each: (each.used, each.size)))

    def credit(self, entry: CorpusEntry, features: Features) -> None:
        """Record what an entry reaches, unless it has been dropped."""
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

    def improved_by(self, size: int, features: Features) -> bool:
        """Whether calls of this size reach a feature whose entry is more than twice as large."""
        best = self._best
        return any(feature in best and best[feature].size > 2 * size for feature in features)

    def pick(self, dice: Dice) -> CorpusEntry | None:
        """The best of a few random entries: small, rarely used, with features of its own."""
        if not self._entries:
            return None
        best = min((dice.pick(self._entries) for _ in range(_CONTENDERS)), key=_effort)
        best.used += 1
        return best

    def any(self, dice: Dice) -> CorpusEntry | None:
        return dice.pick(self._entries) if self._entries else None

    def _drop(self, entry: CorpusEntry) -> None:
        """Remove an entry; the last one moves to its index."""
        entry.kept = False
        last = self._entries.pop()
        if last is not entry:
            self._entries[entry.rank] = last
            last.rank = entry.rank
        for feature in entry.features:
            if self._best.get(feature) is entry:
                del self._best[feature]


def _effort(entry: CorpusEntry) -> float:
    """Lower is better."""
    return (entry.used + 1) * entry.size.bit_length() * (4 if entry.spoilt else 1) / (1 + entry.leads)


_ENOUGH = 2  # calls that hung or died with such a size

_Kind: TypeAlias = tuple[str, str, str, bool]  # tool, parameter, type, whether it is negative


class Hazards:
    """Sizes of values with which calls hung or died, if no call with such a size has returned."""

    def __init__(self) -> None:
        self._costly = dict[_Kind, Counter[float]]()  # by size
        self._harmless = dict[_Kind, float]()  # the largest size

    def note(self, tool: str, arguments: Mapping[str, Any], costly: bool) -> None:
        for kind, size in _sizes(tool, arguments) if costly or self._costly else ():
            if costly:
                self._costly.setdefault(kind, Counter())[size] += 1
            else:
                self._harmless[kind] = max(size, self._harmless.get(kind, -1))

    def threaten(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Whether a value is as large as those of several calls that hung or died."""
        for kind, size in _sizes(tool, arguments) if self._costly else ():
            harmless, sizes = self._harmless.get(kind, -1), self._costly.get(kind, Counter[float]())
            if sum(times for each, times in sizes.items() if harmless < each <= size) >= _ENOUGH:
                return True
        return False


def _sizes(tool: str, arguments: Mapping[str, Any]) -> Iterator[tuple[_Kind, float]]:
    for name, value in arguments.items():
        is_number = isinstance(value, int | float)
        is_sized = isinstance(value, str | list | dict)
        size = abs(value) if is_number else len(value) if is_sized else 0
        yield (tool, name, type(value).__name__, is_number and value < 0), size


_FORGET = 0.98  # weight that past results keep after each call
_PRIOR = 10.0  # calls that the first estimate counts for
_RENEWED = 16  # results after which the shares are recomputed


class Shares:
    """A bandit with a minimum share, since any source may find something later."""

    def __init__(self, first: Mapping[str, float], floor: float = 0.05) -> None:
        self._first = dict(first)
        self._floor = floor
        self._tried = dict.fromkeys(first, 0.0)
        self._gained = dict.fromkeys(first, 0.0)
        self._useful = dict.fromkeys(first, 1.0)  # share of its ideas that become calls
        self._told = 0
        self._bounds = list[tuple[float, str]]()
        self._renew()

    def pick(self, dice: Dice) -> str:
        place = dice.below(1 << 30) / (1 << 30)
        return next((name for bound, name in self._bounds if place < bound), self._bounds[-1][1])

    def reward(self, name: str, gain: float) -> None:
        """Count a call by this source and its gain; unknown names are ignored."""
        if name not in self._tried:
            return
        self._useful[name] += (1 - self._useful[name]) * (1 - _FORGET)
        self._tried[name] = self._tried[name] * _FORGET + 1
        self._gained[name] = self._gained[name] * _FORGET + gain
        self._count()

    def waste(self, name: str) -> None:
        """Count an idea of this source that was rejected."""
        if name in self._useful:
            self._useful[name] *= _FORGET
            self._count()

    def _count(self) -> None:
        self._told += 1
        if self._told % _RENEWED == 0:
            self._renew()

    def settle(self, name: str, share: float) -> None:
        """Set a new first estimate for a source."""
        self._first[name] = share
        self._renew()

    def retire(self, name: str) -> None:
        """Give a source no more calls."""
        for each in (self._first, self._tried, self._gained, self._useful):
            each.pop(name, None)
        self._renew()

    def _renew(self) -> None:
        # The average gain of a call, so that first estimates don't dominate when little is left to find.
        pace = (sum(self._gained.values()) + 1.0) / (sum(self._tried.values()) + 1.0)
        rates = {
            name: self._useful[name]
            * (self._gained[name] + _PRIOR * first * pace)
            / (self._tried[name] + _PRIOR)
            for name, first in self._first.items()
        }
        total = sum(rates.values()) or 1.0
        floored = {name: max(rates[name] / total, self._floor) for name in rates}
        whole = sum(floored.values())
        bounds = accumulate(share / whole for share in floored.values())
        self._bounds = list(zip(bounds, floored, strict=True))


_VARIANTS = 16  # operands per test; with more, it is a comparison with other arguments
_MOST_SEEN = 4000
_OPERAND = 100  # characters by which operands are compared
_PLACES = {str(place) for place in range(8)}  # indexes told apart; larger ones probably come from a loop
_STEPS_WITH_PARTS = frozenset({"at", "slice", "partition", "rpartition", "url", "group"})

_Test: TypeAlias = tuple[Path, str, bool | None, tuple[str, ...]]


class Sights:
    """The operations of one tool's code on its arguments that have been observed."""

    def __init__(self) -> None:
        self._operands = dict[_Test, set[str]]()
        self._count = 0

    def are_new(self, observations: Sequence[Observation]) -> bool:
        """Whether any of these observations is new. All of them are recorded."""
        return any([self._is_new(each) for each in observations])  # a list, so that none is skipped

    def _is_new(self, observation: Observation) -> bool:
        steps = tuple([_told(*step) for step in observation.via])
        test = (observation.path, observation.operation, observation.outcome, steps)
        operands = self._operands.setdefault(test, set())
        operand = observation.operand[:_OPERAND]
        if operand in operands or len(operands) >= _VARIANTS or self._count >= _MOST_SEEN:
            return False
        operands.add(operand)
        self._count += 1
        return True


def _told(name: str, operands: str) -> str:
    """A step and the part it took, because each part may be tested in the same way."""
    if name not in _STEPS_WITH_PARTS:
        return name
    first, *_, last = operands.strip("[]").split(", ") * 2
    part = first if name == "slice" else last
    is_place = part.isdigit() and part not in _PLACES
    return name if is_place else f"{name} {part}"
