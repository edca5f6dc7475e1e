"""Collects refusals of valid arguments, and estimates how many defects there are in total.

The estimate (Chao1) is based on how often each known defect was seen.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import exp, log, sqrt

from msgspec import structs

from misstep.core.results.finding import Refusal, Richness
from misstep.core.stats import Z_95
from misstep.core.text import cut
from misstep.core.tool import Invocation, Reaction
from misstep.fuzzing.judging.echoes import GivenValues, normalise_for, place_of

MOST = 50  # per tool
LONGEST = 1_000  # characters of a message
LONGEST_ARGUMENTS = 10_000  # characters; longer ones are unreadable

_Key = tuple[str, str, str, str]


class Refusals:
    """One refusal per tool, error type, code location and message (without arguments), the smallest each.

    `before` are those of an earlier session.
    """

    def __init__(self, before: Iterable[Refusal] = ()) -> None:
        self._kept = {_key(refusal): refusal for refusal in before}
        self._count = Counter(refusal.tool for refusal in self._kept.values())

    def add(self, call: Invocation, reaction: Reaction) -> None:
        """Record a refused call whose arguments fit the schema."""
        if len(call.arguments) > LONGEST_ARGUMENTS:
            return
        new = _refusal(call, reaction)
        known = self._kept.get(key := _key(new))
        if known is not None:
            smaller = min(known, new, key=lambda each: (len(each.arguments), each.arguments))
            self._kept[key] = structs.replace(smaller, seen=known.seen + 1)
        elif self._count[call.tool] < MOST:
            self._count[call.tool] += 1
            self._kept[key] = new

    def __iter__(self) -> Iterator[Refusal]:
        return iter(self._kept.values())


def _refusal(call: Invocation, reaction: Reaction) -> Refusal:
    raised = reaction.raised
    if raised is None:
        return Refusal(call.tool, "", _short(reaction.text), "", call.arguments)
    return Refusal(call.tool, raised.kind, _short(raised.message), place_of(raised), call.arguments)


def _key(refusal: Refusal) -> _Key:
    given = GivenValues.of(Invocation(refusal.tool, refusal.arguments))
    return refusal.tool, refusal.error, refusal.where, normalise_for(refusal.message, given)


def _short(text: str) -> str:
    return cut(" ".join(text[: 2 * LONGEST].split()), LONGEST)


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
