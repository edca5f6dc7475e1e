"""Collects defects, each once with its simplest calls, and refusals; estimates how many defects there are."""

import json
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import exp, log, sqrt
from typing import cast, get_args

import msgspec
from msgspec import structs

from misstep.core.results.finding import Finding, FindingKind
from misstep.core.results.fuzzing import Refusal, Richness
from misstep.core.results.trial import Judged
from misstep.core.stats import Z_95
from misstep.core.text import cut
from misstep.core.tool import Described, Frame, Invocation, Reaction, length_of, oddity_of
from misstep.fuzzing.judging.echoes import GivenValues, finding_id, normalise_for, place_of
from misstep.fuzzing.returned import misfit_of
from misstep.schemas.shape import as_list, mapping, resolve

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
        known = [own[keyword] for keyword in ("const", "default") if keyword in own]
        known += [*as_list(own.get("enum")), *as_list(own.get("examples"))]
        known += [each[name] for each in examples if name in each]
        said = f"{described.tool.description}\n{own.get('description')}"
        is_long = isinstance(value, str) and len(value) >= SHORTEST
        count += value in known or bool(is_long and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", said))
    return count


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
        judged = structs.replace(judged or self.judged, signature=self.judged.signature)
        found = finding_of(judged, self.kind, calls, self.found_after)
        counts = {"seen": self.seen, "replayed": replayed, "reproduced": reproduced}
        return structs.replace(
            found, original=self.original, origin=self.origin, frames=self.frames, **counts
        )


def finding_of(
    judged: Judged, kind: FindingKind, calls: Sequence[Invocation], found_after: int, title: str = ""
) -> Finding:
    """The defect that these calls show; its id is made from `title` if the tool has several names."""
    tool, made = judged.tool or calls[-1].tool, tuple(calls)
    name = finding_id(title or tool, kind, judged.signature)
    said = judged.error, judged.where, judged.message, judged.why, judged.signature
    return Finding(name, tool, kind, *said, made, made, found_after)


def located(finding: Finding, spec: str, tools: Mapping[str, Described], title: str = "") -> Finding:
    """The finding with what its tools say about its calls; `title` is for a tool with several names."""
    own = finding_id(title, finding.kind, finding.signature) if title else finding.id
    fit = all(
        misfit_of(tools[call.tool].tool.parameters, json.loads(call.arguments)) is None
        for call in finding.calls
    )
    named = documented_values(finding.calls, tools)
    return structs.replace(finding, id=own, spec=spec, fits=fit, documented=named)


def frames_of(judged: Judged, reaction: Reaction) -> tuple[Frame, ...]:
    """The frames of the exception that was judged, also if the tool handled it."""
    known = [raised for raised in (reaction.raised, *reaction.handled) if raised is not None]
    return next((each.frames for each in known if place_of(each) == judged.where), ())


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
        tool = judged.tool or calls[-1].tool
        key = tool, judged.ruling, judged.signature
        entry = self._entries.get(key)
        new = None
        if entry is not None:
            entry.seen += 1
            if size_of(calls) < size_of(entry.calls):
                entry.judged, entry.calls, entry.before = judged, tuple(calls), self._before(calls)
        elif judged.ruling in _KINDS and len(self._entries) < MOST_DEFECTS:
            before = self._before(calls)
            self._entries[key] = new = Defect(
                tool=tool,
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
        why, signature, tool = finding.why, finding.signature, finding.tool
        said = finding.error, finding.where, finding.message
        self._entries[tool, finding.kind, signature] = Defect(
            tool=tool,
            kind=finding.kind,
            judged=Judged(finding.ruling, why, signature, *said, tool),
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


MOST = 50  # refusals per tool
LONGEST = 1_000  # characters of a message
LONGEST_ARGUMENTS = 10_000  # characters; longer ones are unreadable


class Refusals:
    """The smallest refusal per tool, error, location and message; `before` are from an earlier session."""

    def __init__(self, before: Iterable[Refusal] = ()) -> None:
        self._kept = {_key(refusal): refusal for refusal in before}
        self._count = Counter(refusal.tool for refusal in self._kept.values())

    def add(self, call: Invocation, reaction: Reaction) -> None:
        """Record a refused call whose arguments fit the schema."""
        if len(call.arguments) > LONGEST_ARGUMENTS:
            return
        raised, where = reaction.raised, place_of(reaction.raised) if reaction.raised else ""
        error, said = (raised.kind, raised.message) if raised else ("", reaction.text)
        message = cut(" ".join(said[: 2 * LONGEST].split()), LONGEST)
        new = Refusal(call.tool, error, message, where, call.arguments)
        known = self._kept.get(key := _key(new))
        if known is not None:
            smaller = min(known, new, key=lambda each: (len(each.arguments), each.arguments))
            self._kept[key] = structs.replace(smaller, seen=known.seen + 1)
        elif self._count[call.tool] < MOST:
            self._count[call.tool] += 1
            self._kept[key] = new

    def __iter__(self) -> Iterator[Refusal]:
        return iter(self._kept.values())


def _key(refusal: Refusal) -> tuple[str, str, str, str]:
    given = GivenValues.of(Invocation(refusal.tool, refusal.arguments))
    return refusal.tool, refusal.error, refusal.where, normalise_for(refusal.message, given)


def chao1(abundances: Iterable[int]) -> Richness:
    """Chao's bias-corrected estimate with a log-normal 95 % interval, as in EstimateS.

    `abundances` are how often each defect was seen. The interval never starts below the number seen.
    """
    counts = [count for count in abundances if count > 0]
    seen, once, twice = len(counts), counts.count(1), counts.count(2)
    unseen = once * (once - 1) / (2 * (twice + 1))
    if not unseen:
        return Richness(float(seen), *_around_seen(counts)) if seen else Richness(0.0, 0.0, 0.0)
    estimate = seen + unseen
    spread = exp(Z_95 * sqrt(log(1 + _variance(once, twice, estimate) / unseen**2)))
    return Richness(estimate, seen + unseen / spread, seen + unseen * spread)


def _variance(once: int, twice: int, estimate: float) -> float:
    first = once * (once - 1) / (2 * (twice + 1)) + once * (2 * once - 1) ** 2 / (4 * (twice + 1) ** 2)
    if not twice:
        return first - once**4 / (4 * estimate)
    return first + once**2 * twice * (once - 1) ** 2 / (4 * (twice + 1) ** 4)


def _around_seen(counts: Sequence[int]) -> tuple[float, float]:
    """The interval if nothing suggests more defects than were seen."""
    seen = len(counts)
    missed = exp(-sum(counts) / seen)
    width = Z_95 * sqrt(seen * missed * (1 - missed))
    return max(float(seen), (seen - width) / (1 - missed)), (seen + width) / (1 - missed)
